// A worker with one endpoint that sends given responses, and a clock that only the test advances.
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import type { Test } from 'tap'
import type { AttemptRef } from '../tables/deliveries.ts'
import { graceMs } from '../tables/recordDeliveries.ts'
import { batchOf, createWorkerHarness } from './workerHarness.ts'

export type EndpointResponse = { readonly status: number; readonly retryAfter?: string }

export type FakeClockHarness = Awaited<ReturnType<typeof createFakeClockHarness>>

export const clockStart = Date.parse('2026-01-01T00:00:00.000Z')

/** @param responses the endpoint's first responses; `settings.defaultResponse` follows */
export async function createFakeClockHarness(
  t: Test,
  responses: readonly EndpointResponse[],
  env: Readonly<Record<string, string>> = {},
) {
  const settings: { time: number; share: number; defaultResponse: EndpointResponse } = {
    time: clockStart,
    share: 1,
    defaultResponse: { status: 200 },
  }
  const lines: string[] = []
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    const { status, retryAfter } = responses[index] ?? settings.defaultResponse
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
  })
  const variables = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, ...env }
  const harness = await createWorkerHarness(t, 'postgres', variables, undefined, {
    now: () => new Date(settings.time),
    random: () => settings.share,
    log: createLog({ app: 'test', level: 'info' }, { write: (line) => lines.push(line) }),
  })
  await harness.dispatcher.start()
  let commit = 1n

  async function send(attempt: AttemptRef) {
    const [node] = harness.endpoints
    if (node === undefined) throw new Error('no endpoint is configured')
    return await harness.send(node, attempt, new AbortController().signal)
  }

  /** Records this many deliveries. @returns their first attempts */
  async function deliver(count = 1): Promise<AttemptRef[]> {
    await harness.dispatcher.handle(batchOf(count, commit))
    commit += BigInt(count)
    return await harness.deliveries.overdue('1', new Date(settings.time + graceMs), count)
  }

  return {
    settings,
    lines,
    endpoint,
    worker: harness,
    send,
    deliver,

    /** Makes every attempt of a new delivery when it is due. @returns the pauses according to the jobs and to the rows */
    async pauses(): Promise<{ readonly id: string; readonly jobs: number[]; readonly rows: number[] }> {
      const [first] = await deliver()
      if (first === undefined) throw new Error('no delivery is due')
      const jobs: number[] = []
      const rows: number[] = []
      for (let next = await send(first); next !== undefined; next = await send(next)) {
        jobs.push(next.delayMs)
        rows.push(Number((await harness.row(first.deliveryId))?.next_attempt_at) - settings.time)
        settings.time += next.delayMs
      }
      return { id: first.deliveryId, jobs, rows }
    },
  }
}
