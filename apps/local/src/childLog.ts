// A child's output: all of it into a bounded file, warnings and worse on the terminal too.
import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Terminal } from './terminal.ts'

/** At this size a file moves to `<name>.log.1`, replacing the one before: a part's logs stay below about twice this. */
const maxFileBytes = 10 * 1024 * 1024
const pollMs = 200
/** A line longer than this is not looked at. */
const windowBytes = 256 * 1024
/** A part that repeats itself is shown once in this time. */
const repeatMs = 10_000
const shownLength = 300

export type ChildLog = {
  /**
   * For the child's outputs. It writes to the file by itself: when this process is killed, the child can still say how it
   * stopped, and does not fail over a broken pipe.
   */
  readonly descriptor: number
  /** The last thing that the child complained about, up to now. */
  lastWarning(): string | undefined
  close(): void
}

/** @param options `name` is the part's; the file is `<directory>/<name>.log` */
export function createChildLog(options: {
  readonly directory: string
  readonly name: string
  readonly terminal: Terminal
}): ChildLog {
  const { name, terminal } = options
  const path = join(options.directory, `${name}.log`)
  const descriptor = openSync(path, 'a+', 0o600)
  const window = Buffer.alloc(windowBytes)
  let offset = fstatSync(descriptor).size
  let last: string | undefined
  let lastShownAt = Number.NEGATIVE_INFINITY
  let limitBytes = maxFileBytes

  function showWarning(line: string): void {
    const complaint = warningOf(name, line)
    if (complaint === undefined) return
    const now = performance.now()
    if (complaint !== last || now - lastShownAt > repeatMs) {
      terminal.say(`  ${name}: ${complaint}`)
      lastShownAt = now
    }
    last = complaint
  }

  /** Reads what was written since the last look, up to the last whole line. */
  function readNew(): void {
    for (;;) {
      const length = readSync(descriptor, window, 0, windowBytes, offset)
      const end = window.subarray(0, length).lastIndexOf('\n')
      if (end >= 0) for (const line of window.toString('utf8', 0, end).split('\n')) showWarning(line)
      offset += end >= 0 ? end + 1 : length === windowBytes ? length : 0
      if (length < windowBytes) return
    }
  }

  function keepSmall(): void {
    if (fstatSync(descriptor).size < limitBytes) return
    try {
      // Copied and emptied instead of renamed, because the child goes on writing to the file it has.
      copyFileSync(path, `${path}.1`)
      ftruncateSync(descriptor)
      offset = 0
      limitBytes = maxFileBytes
    } catch {
      // No space for the copy. The next try is when the file has grown by as much again.
      limitBytes += maxFileBytes
    }
  }

  const looking = setInterval(() => {
    readNew()
    keepSmall()
  }, pollMs)

  return {
    descriptor,
    lastWarning() {
      readNew()
      return last
    },
    close() {
      clearInterval(looking)
      readNew()
      closeSync(descriptor)
    },
  }
}

const logLine = /^\{"level":"(\w+)"/
const stackLine = /^\s+at |^Node\.js v|^\s*$|^\s*\^|^[{}]/

/**
 * The message of a log line at warning level or above; or a line that was not logged, which is why an app does not start
 * or what Node says about a crash, without the stack.
 */
function warningOf(name: string, line: string): string | undefined {
  const level = logLine.exec(line)?.[1]
  if (level !== undefined) return /warn|error|fatal/.test(level) ? messageOf(line).slice(0, shownLength) : undefined
  return stackLine.test(line) ? undefined : line.trim().replace(`${name}: `, '').slice(0, shownLength)
}

function messageOf(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: unknown; err?: { message?: unknown } }
    const reason = typeof err?.message === 'string' && err.message !== msg ? `: ${err.message}` : ''
    return `${typeof msg === 'string' ? msg : ''}${reason}`.replaceAll(/\s+/g, ' ')
  } catch {
    return line
  }
}
