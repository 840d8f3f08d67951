// The processes of a system that was killed: they stop by themselves, which takes a moment.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'

/**
 * Enough for a stop with nothing under way. With requests under way the API would take 12 s, retrying appends to an event
 * store that stops at the same time. Killing it is safe: acknowledged payments are on disk, and the worker reconciles the rest.
 */
const patienceMs = 1_000
const pollMs = 50

const ourScripts = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Waits until the parts of a killed supervisor are gone, Postgres with its hold on the data above all, and kills what
 * does not go. Only a system that was not stopped has left its runtime.json behind.
 *
 * The caller holds the directory's lock, so that nobody's running parts are meant.
 */
export async function waitForPredecessorExit(directory: string): Promise<void> {
  const left = readRuntime(directory)?.parts ?? []
  const killAt = performance.now() + patienceMs
  for (;;) {
    const alive = left.filter(({ pid }) => runsOurScript(pid))
    if (alive.length === 0) return
    if (performance.now() > killAt) for (const { pid } of alive) kill(pid)
    await pause(pollMs)
  }
}

/** Whether the process is one of ours: after a restart of the machine the number may be anybody's. */
function runsOurScript(pid: number): boolean {
  try {
    const command =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes(ourScripts)
  } catch {
    // There is no such process.
    return false
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended in this very moment.
  }
}
