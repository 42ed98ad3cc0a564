//! The program `mayfly` as a user starts it: one test program, so that it is linked once.

mod advise;
mod byte_order_marks;
mod dumps;
mod limits;
mod load_progress;
mod reproduce;
mod serve;
mod tune;
mod what_if;
