// A worker with one endpoint that sends given responses, and a clock that only the test advances.
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import type { Test } from 'tap'
import type { ClaimedDelivery } from '../deliveries/tables/claims.ts'
import { batchOf } from './paymentFixture.ts'
import { createWorkerHarness } from './workerHarness.ts'

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
    share: 0,
    defaultResponse: { status: 200 },
  }
  const lines: string[] = []
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    const { status, retryAfter } = responses[index] ?? settings.defaultResponse
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
  })
  const variables = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, ...env }
  const harness = await createWorkerHarness(t, 'postgres', variables, {
    now: () => new Date(settings.time),
    random: () => settings.share,
    log: createLog({ app: 'test', level: 'info' }, { write: (line) => lines.push(line) }),
  })
  await harness.dispatcher.start()
  let commit = 1n

  /** Makes an attempt. @returns the pause before the next one */
  async function send(delivery: ClaimedDelivery): Promise<number | undefined> {
    const [endpoint] = harness.endpoints
    if (endpoint === undefined) throw new Error('no endpoint is configured')
    const next = await harness.sender.record(
      await harness.sender.post(endpoint, delivery, new AbortController().signal),
    )
    return next && next.getTime() - settings.time
  }

  /** Records this many deliveries. @returns them, claimed */
  async function deliver(count = 1): Promise<ClaimedDelivery[]> {
    await harness.dispatcher.handle(batchOf(count, commit))
    commit += BigInt(count)
    return await harness.claim('1', count)
  }

  return {
    settings,
    lines,
    endpoint,
    worker: harness,
    send,
    deliver,

    /** Makes every attempt of a new delivery when it is due. @returns the pauses */
    async pauses(): Promise<{ readonly id: string; readonly pauses: number[] }> {
      const pauses: number[] = []
      let [due] = await deliver()
      if (due === undefined) throw new Error('no delivery is due')
      const { id } = due
      while (due !== undefined) {
        const pauseMs = await send(due)
        if (pauseMs === undefined) break
        pauses.push(pauseMs)
        settings.time += pauseMs - 1
        if ((await harness.claim('1', 1)).length > 0) throw new Error('a delivery is due too early')
        settings.time += 1
        ;[due] = await harness.claim('1', 1)
      }
      return { id, pauses }
    },
  }
}
