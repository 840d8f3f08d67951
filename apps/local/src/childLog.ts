// Writes a child's output to a size-limited file and copies warnings and errors to the terminal.
import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Terminal } from './terminal.ts'

/**
 * At this size the file moves to `<name>.log.1` and replaces the older one, so that both stay below about twice this.
 */
const maxFileBytes = 10 * 1024 * 1024
const pollMs = 1_000
/** Longer lines are not parsed. */
const windowBytes = 256 * 1024
/** A repeated warning is shown at most once in this time. */
const repeatMs = 10_000
const shownLength = 300

export type ChildLog = {
  /**
   * Pass it as the child's stdout and stderr. The child writes to the file directly: when this process is killed, the
   * child can still log its own stop and does not fail with a broken pipe.
   */
  readonly descriptor: number
  /** The latest warning or error of the child. */
  lastWarning(): string | undefined
  close(): void
}

/** @param options the file is `<directory>/<name>.log` */
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
    const warning = warningOf(name, line)
    if (warning === undefined) return
    const now = performance.now()
    if (warning !== last || now - lastShownAt > repeatMs) {
      terminal.print(`  ${name}: ${warning}`)
      lastShownAt = now
    }
    last = warning
  }

  /** Reads the whole lines written since the last call. */
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
      // Copy and truncate instead of rename: the child keeps writing to its open file.
      copyFileSync(path, `${path}.1`)
      ftruncateSync(descriptor)
      offset = 0
      limitBytes = maxFileBytes
    } catch {
      // No space for the copy. Try again when the file has grown by the same amount.
      limitBytes += maxFileBytes
    }
  }

  const timer = setInterval(() => {
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
      clearInterval(timer)
      readNew()
      closeSync(descriptor)
    },
  }
}

const logLine = /^\{"level":"(\w+)"/
const stackLine = /^\s+at |^Node\.js v|^\s*$|^\s*\^|^[{}]/

/**
 * The message of a log line at level warn or above, or a line that is not JSON: a start-up error or Node's crash
 * message, without the stack.
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
