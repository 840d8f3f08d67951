// The schemas of deliveries, with examples.
import { exampleId } from '@paylog/domain/examples'
import { Instant, Nullable } from '@paylog/domain/fields'
import { type ListedDelivery, listedStatuses } from '@paylog/webhooks/deliveries/operations/deliveryList'
import { contentHeaders, messageHeaders } from '@paylog/webhooks/messages/signing'
import { type Static, Type } from 'typebox'

const deliveryFields = {
  id: Type.String({ format: 'uuid', description: 'The webhook-id header of the request' }),
  endpoint: Type.String({ description: 'The name of the endpoint' }),
  event: Type.String({ description: 'The event name in the request' }),
  mode: Type.Enum(['raw', 'canonical', 'legacy']),
  provider: Type.String(),
  status: Type.Enum([...listedStatuses], {
    description:
      'pending: not sent yet, or retried; held: pending while the endpoint is paused; failed: not retried any more',
  }),
  is_test: Type.Boolean({ description: 'A webhook test or a simulation' }),
  attempts: Type.Integer({ description: 'Attempts that ended' }),
  last_http_status: Nullable(Type.Integer()),
  last_error: Nullable(Type.String({ description: 'Short error code of the last attempt; null after a success' })),
  last_attempt_at: Nullable(Instant),
  next_attempt_at: Nullable(Type.With(Instant, { description: 'Null when no attempt is planned' })),
  created_at: Instant,
  ended_at: Nullable(Type.With(Instant, { description: 'Null while it is pending' })),
  source: Type.Object(
    {
      stream: Type.String(),
      revision: Type.Integer(),
      event_id: Type.String(),
      causation_id: Type.String({ description: 'Id of the event or request that led to the event' }),
      correlation_id: Type.String({ description: 'Id of the request or notification at the start of the chain' }),
    },
    { description: 'The recorded event that it came from' },
  ),
}

export const WebhookDelivery = Type.Object(deliveryFields, { title: 'WebhookDelivery' })
export type WebhookDelivery = Static<typeof WebhookDelivery>

const DeliveryTry = Type.Object(
  {
    at: Instant,
    ms: Type.Integer({ description: 'How long it took' }),
    http_status: Nullable(Type.Integer({ description: 'Null without a response' })),
    error: Nullable(Type.String({ description: 'Short error code; null for a success' })),
    response: Nullable(
      Type.String({
        description: 'The beginning of the response body, at most 16 KiB, without secrets of the endpoint',
      }),
    ),
  },
  { title: 'WebhookDeliveryTry' },
)

export const WebhookDeliveryDetails = Type.Object(
  {
    ...deliveryFields,
    url: Nullable(
      Type.String({ description: 'Without query and possible keys; null when the endpoint is not configured here' }),
    ),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The headers that every attempt has. `webhook-timestamp` and `webhook-signature` are made at each attempt, with the secret of the ' +
        'endpoint, which only the worker has',
    }),
    payload: Nullable(
      Type.String({
        description: 'The exact body of the request, which is signed; null when personal data in it was erased',
      }),
    ),
    tries: Type.Array(DeliveryTry, { description: 'Every attempt that ended, the oldest first' }),
  },
  { title: 'WebhookDeliveryDetails' },
)
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>

export const exampleDelivery: WebhookDelivery = {
  id: '018f0000-0000-7000-8000-0000000000aa',
  endpoint: '1',
  event: 'payment.succeeded',
  mode: 'canonical',
  provider: 'sandbox',
  status: 'succeeded',
  is_test: false,
  attempts: 1,
  last_http_status: 200,
  last_error: null,
  last_attempt_at: '2026-01-31T12:00:05.100Z',
  next_attempt_at: null,
  created_at: '2026-01-31T12:00:05.000Z',
  ended_at: '2026-01-31T12:00:05.150Z',
  source: {
    stream: `payment-${exampleId}`,
    revision: 2,
    event_id: '018f0000-0000-7000-8000-000000000002',
    causation_id: '018f0000-0000-7000-8000-0000000000bb',
    correlation_id: '018f0000-0000-7000-8000-0000000000bb',
  },
}

export const exampleDetails: WebhookDeliveryDetails = {
  ...exampleDelivery,
  url: 'https://shop.example.com/webhooks',
  headers: {
    ...contentHeaders,
    ...messageHeaders({ id: exampleDelivery.id, sequence: 2n }),
  },
  payload: '{"event":"payment.succeeded"}',
  tries: [{ at: '2026-01-31T12:00:05.100Z', ms: 42, http_status: 200, error: null, response: 'ok' }],
}

export function toDelivery(row: ListedDelivery): WebhookDelivery {
  const { stream, revision, event_id, causation_id, correlation_id, user_id: _, ...delivery } = row
  return { ...delivery, source: { stream, revision, event_id, causation_id, correlation_id } }
}
