// Writes runtime.json, retries when the disk is full, and reports a full disk on the terminal.
import { statfsSync } from 'node:fs'
import { type Runtime, writeRuntime } from '@paylog/runtime/process/runtimeFile'
import type { Terminal } from './terminal.ts'

const pollMs = 1_000
const mebibyte = 1024 * 1024
/** Postgres stops when it cannot create its next WAL segment of 16 MiB. Two limits, so that the messages do not flap. */
const fullBelowBytes = 24 * mebibyte
const freeFromBytes = 32 * mebibyte

export type RuntimePublisher = {
  /** Writes what runs now. A failed write is retried every second. */
  publish(): void
  close(): void
}

export function createRuntimePublisher(options: {
  readonly directory: string
  readonly runtime: () => Runtime
  readonly terminal: Terminal
}): RuntimePublisher {
  const { directory, runtime, terminal } = options
  let isPublished = true
  let hasProblem = false

  function check(): void {
    const problem = findProblem()
    if (problem !== undefined && !hasProblem)
      terminal.say(`  disk: ${problem}. Writes fail until ${directory} has space; then they go on by themselves.`)
    if (problem === undefined && hasProblem) terminal.say('  disk: there is space again')
    hasProblem = problem !== undefined
  }

  function findProblem(): string | undefined {
    try {
      if (!isPublished) writeRuntime(directory, runtime())
      isPublished = true
      const { bavail, bsize } = statfsSync(directory)
      const freeBytes = bavail * bsize
      const isFull = freeBytes < (hasProblem ? freeFromBytes : fullBelowBytes)
      return isFull ? `${Math.floor(freeBytes / mebibyte)} MiB are left` : undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  function publish(): void {
    isPublished = false
    check()
  }

  const checking = setInterval(check, pollMs)
  return { publish, close: () => clearInterval(checking) }
}
