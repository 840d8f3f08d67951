// What the routes of a payment's history take and answer, and what their documentation says.
import { exampleId, examplePayment } from '@paylog/domain/examples'
import { Instant } from '@paylog/domain/fields'
import { HistoryEntry } from '@paylog/domain/payments/history'
import { PaymentResource } from '@paylog/domain/payments/resource'
import { dataResponse, etagHeader, errorResponses, unused } from '@paylog/runtime/http/openApiParts'
import { Type } from 'typebox'

/** The api sends it with every read, and whoever sends it in another form is told so as everywhere. */
const Headers = Type.Object({
  'x-read-after': Type.Optional(
    // Nothing to wait for: the log itself is read, which has every write.
    Type.String({ pattern: '^[0-9]{1,20}$', ...unused }),
  ),
})

const common = {
  ...errorResponses(['not_found', 'event_store_unavailable']),
  tags: ['payments'],
  headers: Headers,
  params: Type.Object({ id: Type.String({ description: 'The id of the payment' }) }),
  security: [{ session: [] }],
}

const facts = {
  payment_id: exampleId,
  provider_id: 'sandbox',
  amount_cents: 2599,
  currency: 'EUR',
  payer: { id: null, type: 'guest', email: 'guest@example.com' },
  project_id: null,
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
    ...facts,
    occurred_at: '2026-01-31T12:00:00.100Z',
    provider_intent_id: 'pi_1',
    client_secret: 'pi_1_secret',
    attempt: 1,
  },
}

const AsOf = Type.Object({
  as_of: Type.Optional(
    Type.With(Instant, {
      description:
        'A time with an offset (its + is written %2B), itself included. 404 before the payment was created; a time to come shows the present',
    }),
  ),
})

export const paymentSchema = {
  ...common,
  operationId: 'getAnyPayment',
  summary: 'Get any payment, now or as of a time',
  description:
    'For administrators. The payment is told by the events of the log: at present by all of them, and with as_of by those before the first one that occurred later. The summary of its method is as of the same time.',
  querystring: AsOf,
  response: {
    200: dataResponse(PaymentResource, {
      description: 'The payment as it was then; the ETag is the revision that it had',
      headers: etagHeader,
      examples: [{ success: true, data: examplePayment }],
    }),
  },
}

export const historySchema = {
  ...common,
  operationId: 'getPaymentHistory',
  summary: 'Get everything that happened to a payment',
  description:
    'For administrators. All events of the payment in the order of its stream, each with who caused it, what led to it, and the status that the payment had after it; with as_of those that had occurred by then.',
  querystring: AsOf,
  response: {
    200: dataResponse(Type.Array(HistoryEntry), {
      description: 'The timeline, the oldest event first',
      headers: {},
      examples: [{ success: true, data: [entry] }],
    }),
  },
}
