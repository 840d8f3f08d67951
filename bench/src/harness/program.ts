// The processes of a benchmark: apps, and programs that are asked one thing at a time over a channel.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { withoutLimits } from '@paylog/testing/processes'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** An app stops by itself within 20 s. */
const stopTimeoutMs = 25_000

export type BenchmarkProgram = {
  readonly pid: number
  /** What it said first: of an app that it is ready. */
  readonly readyMessage: unknown
  /** @throws when the process ends instead of answering, or answers something else */
  request<Answer extends TSchema>(question: object, answer: Answer): Promise<Static<Answer>>
  /** Lets it end, and waits for that. */
  stop(): Promise<void>
}

/**
 * Starts a script with this Node and its options (such as `--cpu-prof`). What it logs is written and read by nobody.
 * @param env its whole environment
 * @param stack with which it is stopped
 * @throws when it ends before it has said something
 */
export async function startBenchmarkProgram(
  script: URL | string,
  { env, stack }: { readonly env: Readonly<Record<string, string>>; readonly stack: AsyncDisposableStack },
): Promise<BenchmarkProgram> {
  const path = new URL(script).pathname
  const child = spawn(process.execPath, [...process.execArgv, path], {
    env: { ...withoutLimits, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const ended = exited.then(([code, signal]) => {
    throw new Error(`${path} ended (${signal ?? code})`)
  })
  ended.catch(() => undefined)
  const nextMessage = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    if (child.connected) child.disconnect()
    const overdue = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await exited
    clearTimeout(overdue)
  }
  stack.defer(stop)
  return {
    pid: child.pid ?? 0,
    readyMessage: await nextMessage(),
    async request(question, answer) {
      const next = nextMessage()
      child.send(question)
      return Value.Parse(answer, await next)
    },
    stop,
  }
}

/** In such a process: tells that it is ready, answers what it is asked, and ends when whoever asks is gone. */
export function serveRequests(answer: (question: unknown) => Promise<object>, end: () => Promise<void>): void {
  process.on('message', (question) => {
    answer(question).then(
      (said) => process.send?.(said),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        process.exit(1)
      },
    )
  })
  process.on('disconnect', () => void end().finally(() => process.exit(0)))
  process.send?.({})
}
