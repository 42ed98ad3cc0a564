// The path of the `mayfly` program. A package for each platform carries it; npm installs the one that fits, and nothing is
// built or fetched afterwards.
'use strict';

const platforms = ['linux-x64', 'linux-arm64'];

/** The path of the program: MAYFLY_PROGRAM, or that of this platform's package. */
function programPath() {
  if (process.env.MAYFLY_PROGRAM) return process.env.MAYFLY_PROGRAM;
  const platform = `${process.platform}-${process.arch}`;
  if (!platforms.includes(platform)) {
    throw new Error(`mayfly has no program for ${platform}, only for ${platforms.join(' and ')}; MAYFLY_PROGRAM may name one`);
  }
  const file = `@mayfly/${platform}/bin/mayfly`;
  try {
    return require.resolve(file);
  } catch (cause) {
    const hint = 'it is an optional dependency of mayfly: install without --omit=optional';
    throw new Error(`the package @mayfly/${platform} is missing; ${hint}`, { cause });
  }
}

exports.programPath = programPath;
