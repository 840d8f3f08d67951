// Apps as real processes: started, known to be ready, stopped or killed.
import { spawn } from 'node:child_process'
import { findFreePort, type PortRange } from '@paylog/runtime/process/ports'
import type { Test } from 'tap'
import { compileCache } from './testEnvironment.ts'

const readyTimeoutMs = 30_000
const stopTimeoutMs = 15_000
/** Tests and benchmarks ask for more, from one address, than clients may by default. */
export const withoutLimits = {
  RATE_LIMIT_PER_MINUTE: '0',
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '0',
  MAX_CONNECTIONS_PER_ADDRESS: '0',
}
/**
 * Unlike in production: tests end with requests that nobody answers any more, and a busy machine holds up every process
 * that runs on it.
 */
const testSettings = { STOP_TIMEOUT: '8s', SHED_EVENT_LOOP_DELAY: '0', ...withoutLimits }
const takenPorts = new Set<number>()
/**
 * A port is chosen some time before it is listened on, so files that run at the same time choose from ranges of their own.
 * None of them is one that `npm start` chooses.
 */
const firstTestPort = 10_000
const portsPerJob = 1_000
const maxJobs = 5

export type TestProcess = {
  readonly pid: number
  /** What the process sent along with its ready message. */
  readonly detail: Readonly<Record<string, unknown>>
  /** How it ended, whenever it does. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Everything it wrote so far, standard output and standard error together. */
  output(): string
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops it as its supervisor would, and waits for the end. */
  stop(): Promise<void>
}

/**
 * Starts a script with this Node and an IPC channel, as its supervisor would. It is gone when the test is over.
 *
 * @param options `env` is its whole environment, aside from `PATH` and what makes it start and stop sooner
 * @returns when the script has told that it is ready
 * @throws with its output, when it ended or stayed silent instead
 */
export async function startProcess(
  t: Test,
  { script, env = {}, args = [] }: { script: URL; env?: Readonly<Record<string, string>>; args?: readonly string[] },
): Promise<TestProcess> {
  const child = spawn(process.execPath, [script.pathname, ...args], {
    env: { PATH: process.env.PATH, ...compileCache, ...testSettings, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let written = ''
  const collect = (text: string) => {
    written += text
  }
  child.stdout?.setEncoding('utf8').on('data', collect)
  child.stderr?.setEncoding('utf8').on('data', collect)
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const overdue = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await exited
    clearTimeout(overdue)
  }
  const stop = () => kill('SIGTERM')
  t.teardown(stop)
  const ready = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    child.on('message', (message: Readonly<Record<string, unknown>>) => {
      if (message.type === 'ready') resolve(message)
    })
  })
  const endedEarly = exited.then(({ code, signal }) => {
    throw new Error(`${script.pathname} ended (${signal ?? code}) before it was ready: ${written}`)
  })
  // Once it was ready, its end is nobody's failure here.
  endedEarly.catch(() => undefined)
  const overdue = setTimeout(() => child.kill('SIGKILL'), readyTimeoutMs)
  const detail = await Promise.race([ready, endedEarly]).finally(() => clearTimeout(overdue))
  return { pid: child.pid ?? 0, detail, exited, output: () => written, kill, stop }
}

/** A port that is free now, another one each time, and none that a test file beside this one is given. */
export const freePort = () => findFreePort(takenPorts, portsOfJob(process.env.TAP_JOB_ID))

/** @param jobId which of the files that run side by side asks; nothing for whoever runs them */
export function portsOfJob(jobId: string | undefined): PortRange {
  const job = jobId === undefined ? maxJobs : Number(jobId)
  if (jobId !== undefined && !(job < maxJobs))
    throw new RangeError(`There are ports for ${maxJobs} jobs, not for number ${jobId}.`)
  const first = firstTestPort + job * portsPerJob
  return { first, last: first + portsPerJob - 1 }
}
