// Webhook log entries, recorded by the worker's own code without sending.

import { randomUUID } from 'node:crypto'
import { positionAt } from '@paylog/testing/positionAt'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import { redeliver } from '@paylog/webhooks/deliveries/operations/redelivery'
import { createDeliveries } from '@paylog/webhooks/deliveries/tables/deliveries'
import type { AttemptResult } from '@paylog/webhooks/deliveries/tables/results'
import type { Outbound } from '@paylog/webhooks/messages/outbound'
import type { Test } from 'tap'
import { queryApiHarness } from './queryApiHarness.ts'

/** An attempt's result; without an error it succeeded. */
export type AttemptFixture = Partial<
  Pick<AttemptResult, 'at' | 'error' | 'httpStatus' | 'responseBody' | 'pausesEndpoint'>
> & {
  /** Leaves the delivery pending with a retry at this time. */
  readonly next?: Date
}

const started = new Date('2026-03-01T10:00:00.000Z')
const second = (n: number) => new Date(started.getTime() + n * 1000)

export const failed: AttemptFixture = { error: 'http_status', httpStatus: 500, responseBody: 'out of order' }

/** The query API, and functions that record deliveries and attempts. */
export async function webhookLogHarness(t: Test) {
  const api = await queryApiHarness(t)
  const { pool } = api
  await migrateWebhooks(pool)
  const deliveries = createDeliveries(pool, randomUUID())
  let position = 0n

  /** Records deliveries with the given fields and defaults. @returns their ids */
  async function record(messages: readonly Partial<Outbound>[], at = second(Number(position))): Promise<string[]> {
    const whole = messages.map((message) => ({ ...outboundFixture(), ...message }))
    const from = position === 0n ? undefined : positionAt(position)
    position += 1n
    await deliveries.record({
      name: 'webhooks',
      from,
      to: positionAt(position),
      at,
      since: at,
      messages: whole,
    })
    return whole.map(({ id }) => id)
  }

  /** Records attempts of a delivery in order. @param before the number of its earlier attempts */
  async function attempt(id: string, tried: readonly AttemptFixture[], before = 0): Promise<void> {
    const { rows } = await pool.query<{ series_start: number }>(
      'select series_start from webhooks.deliveries where id = $1',
      [id],
    )
    for (const [index, { next, ...facts }] of tried.entries()) {
      const isLast = index === tried.length - 1
      const isPending = next !== undefined || !isLast || facts.pausesEndpoint === true
      const recorded = await deliveries.finish({
        deliveryId: id,
        attempt: before + index + 1,
        seriesStart: rows[0]?.series_start ?? 0,
        at: second(index),
        ms: 12,
        httpStatus: 200,
        error: null,
        responseBody: 'ok',
        pausesEndpoint: false,
        nextAttemptAt: next ?? (isPending ? second(index + 1) : null),
        ...facts,
      })
      if (!recorded) throw new Error(`Attempt ${before + index + 1} of ${id} was not recorded`)
    }
  }

  return {
    ...api,
    record,
    attempt,
    /** Records a delivery with all its attempts. @returns its id */
    async send(message: Partial<Outbound> = {}, tried: readonly AttemptFixture[] = [{}]): Promise<string> {
      const [id = ''] = await record([message])
      await attempt(id, tried)
      return id
    },
    /** Redelivers like an operator. */
    redeliver: (id: string) => redeliver(pool, [id], second(60)),
  }
}

function outboundFixture(): Outbound {
  const payment_id = randomUUID()
  return {
    id: randomUUID(),
    endpoint: '1',
    event: 'payment.succeeded',
    mode: 'canonical',
    provider: 'sandbox',
    body: '{"event":"payment.succeeded"}',
    key_ids: [],
    source_stream: `payment-${payment_id}`,
    source_revision: 2n,
    source_event_id: randomUUID(),
    correlation_id: 'request-1',
    causation_id: 'request-1',
    payment_id,
    user_id: null,
    is_test: false,
  }
}
