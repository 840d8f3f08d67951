// Starts the whole system as `npm start` does, with temporary data, and an endpoint for its webhooks.
import { randomBytes, randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'
import { startBenchmarkProgram } from './program.ts'

const main = new URL('../../../apps/local/src/main.ts', import.meta.url)

/** @param settings variables that differ from a default start */
export async function startPrivateSystem(
  stack: AsyncDisposableStack,
  settings: Readonly<Record<string, string>>,
): Promise<Runtime> {
  const directory = join(tmpdir(), `paylog-bench-${randomUUID()}`)
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const { PATH = '', HOME = '' } = process.env
  const { pid } = await startBenchmarkProgram(main, {
    env: { PATH, HOME, DATA_DIR: directory, PORT: '0', ...settings },
    stack,
  })
  // Unlike a single app it does not stop when its IPC channel closes.
  stack.defer(() => void process.kill(pid, 'SIGTERM'))
  const runtime = readRuntime(directory)
  if (runtime === undefined) throw new Error(`${directory} has no runtime file`)
  return runtime
}

export type ReceivedWebhook = {
  readonly paymentId: string
  /** By the clock of `performance.now()`. */
  readonly at: number
}

export type Endpoint = {
  readonly url: string
  /** The variables that configure the endpoint. */
  readonly settings: Readonly<Record<string, string>>
  /** Resolves with all received webhooks when there are this many. */
  received(count: number, signal: AbortSignal): Promise<readonly ReceivedWebhook[]>
}

/** Starts an endpoint that responds 200 to every webhook. The stack closes it. */
export async function openEndpoint(stack: AsyncDisposableStack): Promise<Endpoint> {
  const received: ReceivedWebhook[] = []
  const arrivals = new EventEmitter()
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        received.push({ paymentId: /"payment_id":"([^"]*)"/.exec(body)?.[1] ?? '', at: performance.now() })
        response.end()
        arrivals.emit('arrival')
      },
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The endpoint has no port')
  const url = `http://127.0.0.1:${address.port}/webhooks`
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return {
    url,
    settings: { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: url, WEBHOOK_1_SECRET: secret },
    async received(count, signal) {
      while (received.length < count) await once(arrivals, 'arrival', { signal })
      return received
    },
  }
}
