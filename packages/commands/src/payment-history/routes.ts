// GET /admin/payments/{id} and GET /admin/payments/{id}/history: any payment and its events, now or as of a time.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { exampleId, examplePayment } from '@paylog/domain/examples'
import { Instant } from '@paylog/domain/fields'
import { AttentionEntry, attentionOf } from '@paylog/domain/payments/attention'
import { eventsUntil, HistoryEntry, paymentHistory, withoutSecrets } from '@paylog/domain/payments/history'
import { PaymentResource } from '@paylog/domain/payments/resource'
import { dataResponse, errorResponses, etagHeader, unused } from '@paylog/runtime/http/openApiSchemas'
import { invalidInput } from '@paylog/runtime/http/validation'
import { Type } from 'typebox'
import { noPayment, pathId } from '../payments/ownedPayment.ts'
import { paymentAfter, readPaymentEvents, seesSecrets, shownToAdministrator } from '../payments/readPayment.ts'
import { etagOf } from '../request/ifMatch.ts'
import type { CommandDependencies } from '../request/requestContext.ts'

/** Clients may send X-Read-After with every read, so its format is validated here too. */
const Headers = Type.Object({
  'x-read-after': Type.Optional(
    // Unused: these routes read the log itself, which always contains the write.
    Type.String({ pattern: '^[0-9]{1,20}$', ...unused }),
  ),
})

const common = {
  ...errorResponses(['not_found', 'event_store_unavailable']),
  tags: ['payments'],
  headers: Headers,
  params: Type.Object({ id: Type.String({ description: 'The id of the payment' }) }),
}

const request = '018f0000-0000-7000-8000-0000000000aa'

const entry = {
  position: '4711',
  revision: 1,
  type: 'ProviderIntentCreated',
  occurred_at: '2026-01-31T12:00:00.100Z',
  actor: 'anonymous',
  correlation_id: request,
  causation_id: request,
  status_after: 'pending',
  data: {
    payment_id: exampleId,
    provider_id: 'sandbox',
    amount_cents: 2599,
    currency: 'EUR',
    payer: { id: null, type: 'guest', email: 'guest@example.com' },
    project_id: null,
    occurred_at: '2026-01-31T12:00:00.100Z',
    provider_intent_id: 'pi_1',
    client_secret: 'pi_1_secret',
    attempt: 1,
  },
}

const querystring = Type.Object({
  as_of: Type.Optional(
    Type.With(Instant, {
      description:
        'An inclusive time with an offset (encode its + as %2B). 404 before the payment was created; a future time gives the current state',
    }),
  ),
})

const AnyPayment = Type.Interface(
  [PaymentResource],
  {
    attention: Type.Array(AttentionEntry, { description: 'What a human has to look at, the oldest first' }),
  },
  { title: 'AnyPayment' },
)

const paymentSchema = {
  ...common,
  operationId: 'getAnyPayment',
  summary: 'Get any payment, now or as of a time',
  description:
    "For administrators. Folds the payment's events: all of them, or with as_of those before the first one that occurred later. The method summary is as of the same time. client_secret and redirect_url are null without the right charge.",
  querystring,
  response: {
    200: dataResponse(AnyPayment, {
      description: 'The payment at that time; the ETag is its revision then',
      headers: etagHeader,
      examples: [{ ...examplePayment, attention: [] }],
    }),
  },
}

const historySchema = {
  ...common,
  operationId: 'getPaymentHistory',
  summary: 'Get the history of a payment',
  description:
    'For administrators. What happened to the payment: its events in stream order, without the notifications of providers that led to them (GET /admin/payments/{id}/events has these too); each with its actor, its cause, and the status of the payment after it; with as_of only those that had occurred by then. client_secret and redirect_url are null without the right charge.',
  querystring,
  response: {
    200: dataResponse(Type.Array(HistoryEntry), {
      description: 'The history, the oldest event first',
      examples: [[entry]],
    }),
  },
}

export const paymentHistoryRoutes =
  ({ workflow: { store } }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    /**
     * @param as_of without it, all events
     * @throws DomainError `not_found`, with the same message for a malformed id and for an unknown one
     */
    async function eventsOf(id: string, as_of: string | undefined) {
      const time = timeOf(as_of)
      const all = await readPaymentEvents(store, pathId(id))
      const events = time === undefined ? all : eventsUntil(all, time)
      const last = events.at(-1)
      if (all.length === 0) throw noPayment()
      if (last === undefined) throw new DomainError('not_found', 'The payment did not exist at that time')
      return { events, last, time }
    }

    app.get(
      '/admin/payments/:id',
      { config: { right: 'read' }, schema: paymentSchema },
      async ({ actor, params, query }, reply) => {
        const { events, last, time } = await eventsOf(params.id, query.as_of)
        const data = shownToAdministrator(actor, await paymentAfter(store, events, time))
        reply.header('etag', etagOf(last.revision))
        return { success: true as const, data: { ...data, attention: attentionOf(events) } }
      },
    )

    app.get(
      '/admin/payments/:id/history',
      { config: { right: 'read' }, schema: historySchema },
      async ({ actor, params, query }) => {
        const { events } = await eventsOf(params.id, query.as_of)
        const history = paymentHistory(events)
        return { success: true as const, data: seesSecrets(actor) ? history : history.map(withoutSecrets) }
      },
    )
  }

/** @throws DomainError `invalid_request` for a leap second, which passes the format check but does not parse */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return time
  throw invalidInput('querystring', [{ field: 'as_of', message: 'must be a time' }])
}
