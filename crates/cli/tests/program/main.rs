//! The program `mayfly` as a user starts it: one test program, so that it is linked once.

mod advise;
mod client_commands;
mod connect;
mod csv_files;
mod dumps;
mod limits;
mod load_progress;
mod modes;
mod remote;
mod reproduce;
mod serve;
mod shell;
mod tune;
mod what_if;
