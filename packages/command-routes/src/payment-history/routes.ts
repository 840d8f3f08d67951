// GET /admin/payments/{id} and GET /admin/payments/{id}/history: any payment as the log tells it, now or as of a time.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { eventsUntil, paymentHistory } from '@paylog/domain/payments/history'
import { paymentAfter, readPaymentEvents } from '@paylog/workflows/payments/paymentOnRecord'
import { etagOf } from '../ifMatch.ts'
import type { CommandDependencies } from '../writing.ts'
import { historySchema, paymentSchema } from './routeSchemas.ts'

export const paymentHistoryRoutes =
  ({ workflow: { store }, callers }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    /**
     * @param time in ms since 1970; without it, all events
     * @throws DomainError `not_found`, in the same words for what is no id and for what is missing
     */
    async function eventsOf(id: string, time: number | undefined) {
      const recorded = recordedId(id)
      const whole = recorded === null ? [] : await readPaymentEvents(store, recorded)
      const events = time === undefined ? whole : eventsUntil(whole, time)
      const last = events.at(-1)
      if (whole.length === 0) throw new DomainError('not_found', 'No payment with this id')
      if (last === undefined) throw new DomainError('not_found', 'There was no payment with this id at that time')
      return { events, last }
    }

    app.get(
      '/admin/payments/:id',
      { onRequest: callers.administrator, schema: paymentSchema },
      async ({ params, query }, reply) => {
        const time = timeOf(query.as_of)
        const { events, last } = await eventsOf(params.id, time)
        const data = await paymentAfter(store, events, time)
        reply.header('etag', etagOf(last.revision))
        return { success: true as const, data }
      },
    )

    app.get(
      '/admin/payments/:id/history',
      { onRequest: callers.administrator, schema: historySchema },
      async ({ params, query }) => {
        const { events } = await eventsOf(params.id, timeOf(query.as_of))
        return { success: true as const, data: paymentHistory(events) }
      },
    )
  }

/** @throws DomainError `invalid_request` for a leap second, which passes the format and is no time to a computer */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return time
  const message = 'must be a time'
  throw new DomainError('invalid_request', `The query is invalid: as_of ${message}`, {
    fields: [{ field: 'as_of', message }],
  })
}
