// One node at an endpoint that answers as it is told, and a clock that stands still until it is moved.
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import type { Test } from 'tap'
import type { AttemptRef } from '../tables/deliveries.ts'
import { graceMs } from '../tables/recordDeliveries.ts'
import { batchOf, createWorkerHarness } from './workerHarness.ts'

export type EndpointResponse = { readonly status: number; readonly retryAfter?: string }

export type FakeClockHarness = Awaited<ReturnType<typeof createFakeClockHarness>>

export const clockStart = Date.parse('2026-01-01T00:00:00.000Z')

/** @param answers what the endpoint says to each request; `answerAll` is for those after them */
export async function createFakeClockHarness(
  t: Test,
  answers: readonly EndpointResponse[],
  env: Readonly<Record<string, string>> = {},
) {
  const settings: { time: number; share: number; answerAll: EndpointResponse } = {
    time: clockStart,
    share: 1,
    answerAll: { status: 200 },
  }
  const lines: string[] = []
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    const { status, retryAfter } = answers[index] ?? settings.answerAll
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
  })
  const node = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, ...env }
  const rig = await createWorkerHarness(t, 'postgres', node, undefined, {
    now: () => new Date(settings.time),
    random: () => settings.share,
    log: createLog({ app: 'test', level: 'info' }, { write: (line) => lines.push(line) }),
  })
  await rig.dispatcher.start()
  let commit = 1n

  async function send(attempt: AttemptRef) {
    const [only] = rig.endpoints
    if (only === undefined) throw new Error('no node')
    return await rig.send(only, attempt, new AbortController().signal)
  }

  /** Records so many deliveries. @returns their first attempts */
  async function deliver(count = 1): Promise<AttemptRef[]> {
    await rig.dispatcher.handle(batchOf(count, commit))
    commit += BigInt(count)
    return await rig.deliveries.overdue('1', new Date(settings.time + graceMs), count)
  }

  return {
    settings,
    lines,
    endpoint,
    rig,
    send,
    deliver,

    /** Makes every attempt of a new delivery exactly when it is due. @returns the pauses, by the jobs and by the rows */
    async pauses(): Promise<{ readonly id: string; readonly jobs: number[]; readonly rows: number[] }> {
      const [first] = await deliver()
      if (first === undefined) throw new Error('nothing to send')
      const jobs: number[] = []
      const rows: number[] = []
      for (let next = await send(first); next !== undefined; next = await send(next)) {
        jobs.push(next.delayMs)
        rows.push(Number((await rig.row(first.deliveryId))?.next_attempt_at) - settings.time)
        settings.time += next.delayMs
      }
      return { id: first.deliveryId, jobs, rows }
    },
  }
}
