// The upper bound: a loop that signs and sends webhooks and stores nothing.
import { randomUUID } from 'node:crypto'
import { webhookHeaders } from '@paylog/webhooks/messages/signing'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Agent, request } from 'undici'
import { serveRequests } from '../harness/program.ts'
import { bodyOf, machineMicros, settledPayment } from './messages.ts'

const BenchCommand = Type.Object({
  url: Type.String(),
  secret: Type.String(),
  concurrency: Type.Integer(),
  seconds: Type.Number(),
})

const dispatcher = new Agent({ pipelining: 1 })

async function handle(message: unknown): Promise<object> {
  const { url, secret, concurrency, seconds } = Value.Parse(BenchCommand, message)
  const begin = performance.now()
  const until = begin + seconds * 1_000
  let delivered = 0
  const sender = async () => {
    for (let at = performance.now(); at < until; at = performance.now()) {
      const text = bodyOf(settledPayment(1n, machineMicros()))
      const signed = webhookHeaders({ id: randomUUID(), at: new Date(), body: text, secrets: [secret], sequence: 2n })
      const headers = { 'content-type': 'application/json', 'user-agent': 'paylog-webhooks/1', ...signed }
      const { statusCode, body } = await request(url, { method: 'POST', dispatcher, headers, body: text })
      await body.text()
      if (statusCode !== 200) throw new Error(`The endpoint responded ${statusCode}`)
      delivered += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, sender))
  return { perSecond: (delivered * 1_000) / (performance.now() - begin) }
}

serveRequests(handle, () => dispatcher.destroy())
