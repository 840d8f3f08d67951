// Starts and stops apps as real processes, and assigns ports to tests.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findFreePort, type PortRange } from '@paylog/runtime/process/ports'
import type { Test } from 'tap'
import { testMasterKey } from './dataKeys.ts'
import { moduleLoading } from './testEnvironment.ts'

const readyTimeoutMs = 60_000
const stopTimeoutMs = 15_000
/** Tests and benchmarks send more requests from one address than the default limits allow. */
export const withoutLimits = {
  RATE_LIMIT_PER_MINUTE: '0',
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '0',
  MAX_CONNECTIONS_PER_ADDRESS: '0',
}
/**
 * Tests end with open requests, so stopping must be quick; load shedding would fail tests on a busy machine.
 */
const testSettings = {
  STOP_TIMEOUT: '8s',
  SHED_EVENT_LOOP_DELAY: '0',
  ...withoutLimits,
  PII_MASTER_KEY: testMasterKey,
}
const takenPorts = new Set<number>()
/**
 * A port is chosen some time before it is used, so files that run in parallel have separate ranges. `npm start` uses
 * none of them.
 */
const firstTestPort = 10_000
const portsPerJob = 1_000
/** For programs that are no test: some start dozens of systems one after the other. */
const lastPort = 19_999
const maxJobs = 5

export type TestProcess = {
  readonly pid: number
  /** The process's ready message. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Resolves when the process ends. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Everything it wrote so far to stdout and stderr. */
  output(): string
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops it with SIGTERM, as a supervisor does, and waits for the end. */
  stop(): Promise<void>
}

/**
 * Starts a script with this Node, or another `program`, and an IPC channel, as a supervisor does. It is stopped when the test ends.
 *
 * @param options `env`: its whole environment, except for `PATH` and the test settings
 * @returns when the script has reported that it is ready
 * @throws Error with its output, when it ended or did not become ready in time
 */
export async function startProcess(
  t: Test,
  {
    script,
    env = {},
    args = [],
    program = process.execPath,
  }: {
    script: URL
    env?: Readonly<Record<string, string>>
    args?: readonly string[]
    program?: string | undefined
  },
): Promise<TestProcess> {
  const path = fileURLToPath(script)
  const child = spawn(program, [path, ...args], {
    env: { PATH: process.env.PATH, ...moduleLoading, ...testSettings, ...env },
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
    throw new Error(`${path} ended (${signal ?? code}) before it was ready: ${written}`)
  })
  // After the process was ready, its end is not an error here.
  endedEarly.catch(() => undefined)
  const overdue = setTimeout(() => child.kill('SIGKILL'), readyTimeoutMs)
  const detail = await Promise.race([ready, endedEarly]).finally(() => clearTimeout(overdue))
  return { pid: child.pid ?? 0, detail, exited, output: () => written, kill, stop }
}

/** Returns a free port: a different one on each call, and in each test file that runs in parallel. */
export const freePort = () => findFreePort(takenPorts, portsOfJob(process.env.TAP_JOB_ID))

/** @param jobId tap's number of the parallel job; `undefined` in the test runner itself, and in programs that are no test */
export function portsOfJob(jobId: string | undefined): PortRange {
  const job = jobId === undefined ? maxJobs : Number(jobId)
  if (jobId !== undefined && !(job < maxJobs))
    throw new RangeError(`There are ports for ${maxJobs} jobs, not for number ${jobId}.`)
  const first = firstTestPort + job * portsPerJob
  return { first, last: jobId === undefined ? lastPort : first + portsPerJob - 1 }
}
