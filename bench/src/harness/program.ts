// Child processes of a benchmark: apps, and programs that serve one request at a time over IPC.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { withoutLimits } from '@paylog/testing/processes'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** An app stops within 20 s. */
const stopTimeoutMs = 25_000

export type BenchmarkProgram = {
  readonly pid: number
  /** The first message: for an app, that it is ready. */
  readonly readyMessage: unknown
  /** @throws when the process exits, or its response does not fit the schema */
  request<Response extends TSchema>(message: object, schema: Response): Promise<Static<Response>>
  /** Stops the process and waits for its exit. */
  stop(): Promise<void>
}

/**
 * Starts a script with this Node and its options (such as `--cpu-prof`). Log output is discarded.
 * @param env its whole environment
 * @param output the file that gets its output instead, as a descriptor
 * @param stack stops it
 * @throws when it exits before its first message
 */
export async function startBenchmarkProgram(
  script: URL | string,
  {
    env,
    stack,
    output,
  }: {
    readonly env: Readonly<Record<string, string>>
    readonly stack: AsyncDisposableStack
    readonly output?: number
  },
): Promise<BenchmarkProgram> {
  const path = fileURLToPath(script)
  const child = spawn(process.execPath, [...process.execArgv, path], {
    env: { ...withoutLimits, PII_MASTER_KEY: testMasterKey, ...env },
    stdio: ['ignore', output ?? 'ignore', output ?? 'inherit', 'ipc'],
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
    async request(message, schema) {
      const next = nextMessage()
      child.send(message)
      return Value.Parse(schema, await next)
    },
    stop,
  }
}

/** In the child: reports that it is ready, serves requests, and ends when the parent disconnects. */
export function serveRequests(handle: (request: unknown) => Promise<object>, end: () => Promise<void>): void {
  process.on('message', (request) => {
    handle(request).then(
      (response) => process.send?.(response),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        process.exit(1)
      },
    )
  })
  process.on('disconnect', () => void end().finally(() => process.exit(0)))
  process.send?.({})
}
