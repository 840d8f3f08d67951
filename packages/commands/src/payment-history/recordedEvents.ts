// GET /admin/payments/{id}/events: the events of a payment exactly as recorded.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleId } from '@paylog/domain/examples'
import { ClientObject, Instant, Nullable } from '@paylog/domain/fields'
import type { EventStore } from '@paylog/event-store/eventStore'
import { recordedEventJson } from '@paylog/event-store/export/exportLine'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { paymentStream } from '@paylog/event-store/streamName'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { errorResponses } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { paymentTarget } from '../payments/changes.ts'
import { noPayment, pathId } from '../payments/ownedPayment.ts'
import type { CommandDependencies } from '../request/requestContext.ts'

const RecordedEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: Type.String({ description: 'The recorded type; a later version of an event has a suffix such as `.v2`' }),
    stream: Type.String(),
    revision: Type.Integer({ minimum: 0, description: 'Place in the stream, from 0' }),
    position: Type.String({ pattern: '^[0-9]+$', description: 'Position in the log' }),
    created: Type.With(Instant, { description: 'When the event store recorded it' }),
    data: Type.Optional(ClientObject({ description: 'As recorded, with personal data and client secrets sealed' })),
    data_base64: Type.Optional(Type.String({ description: 'In place of data that is not JSON' })),
    metadata: Type.Optional(
      ClientObject({ description: 'Who caused it and why: `actor`, `$correlationId`, `$causationId`' }),
    ),
    metadata_base64: Type.Optional(Type.String({ description: 'In place of metadata that is not JSON' })),
  },
  { title: 'RecordedEvent' },
)

const maxLimit = 200

const Query = Type.Object({
  from_revision: Type.Integer({ minimum: 0, default: 0, description: 'The first revision' }),
  limit: Type.Integer({ minimum: 1, maximum: maxLimit, default: 100, description: 'Events per page' }),
})

const example = {
  id: '018f0000-0000-7000-8000-0000000000ee',
  type: 'PaymentAttemptFailed',
  stream: `payment-${exampleId}`,
  revision: 2,
  position: '4711',
  created: '2026-01-31T12:00:00.200Z',
  data: { payment_id: exampleId, occurred_at: '2026-01-31T12:00:00.100Z' },
  metadata: {
    $correlationId: '018f0000-0000-7000-8000-0000000000aa',
    $causationId: '018f0000-0000-7000-8000-0000000000aa',
    actor: 'provider:sandbox',
    schema: 1,
  },
}

const Response = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(RecordedEvent),
    meta: Type.Object({
      limit: Type.Integer(),
      next_revision: Nullable(
        Type.Integer({ description: 'The from_revision of the next page; null when there are no more events' }),
      ),
    }),
  },
  {
    description: 'The events, the oldest first. A page ends early at 8 MiB',
    examples: [{ success: true, data: [example], meta: { limit: 100, next_revision: null } }],
  },
)

const schema = {
  ...errorResponses(['not_found', 'event_store_unavailable']),
  tags: ['payments'],
  operationId: 'listRecordedEvents',
  summary: 'List the recorded events of a payment',
  description:
    'For administrators. The events as the event store has them, notifications of the provider included, in the fields and ' +
    'digits of the time when they were recorded: personal data, client secrets and what providers sent are sealed. ' +
    'GET /admin/payments/{id}/history explains the events. ' +
    'Each page is recorded in the audit trail: do not poll.',
  params: Type.Object({ id: Type.String({ description: 'The id of the payment' }) }),
  querystring: Query,
  // The route serialises the response itself: parsing would round large numbers.
  response: { 200: Type.Unsafe<string>(Response) },
}

export const recordedEventsRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    // Not only the first page: any other one shows as much.
    const show = audited(schema, 'show_payment', ({ params, query: { from_revision } }) => ({
      target: paymentTarget(pathId(params.id)),
      details: { from_revision },
    }))
    app.get(
      '/admin/payments/:id/events',
      { config: { right: 'read', audited: show }, schema },
      async (request, reply) => {
        const { from_revision, limit } = request.query
        const page = await eventsPage(workflow.store, pathId(request.params.id), from_revision, limit)
        const meta = JSON.stringify({ limit, next_revision: page.next })
        reply.type('application/json; charset=utf-8')
        return `{"success":true,"data":[${page.events.map(recordedEventJson).join(',')}],"meta":${meta}}`
      },
    )
  }

type EventsPage = { readonly events: readonly RawEvent[]; readonly next: number | null }

/** @throws DomainError `not_found` */
async function eventsPage(store: EventStore, id: string, from: number, limit: number): Promise<EventsPage> {
  const stream = paymentStream(id)
  // One more, to know whether there is another page.
  const { events, isLast } = await store.readRawPage(stream, BigInt(from), limit + 1)
  if (events.length === 0 && (from === 0 || (await store.readRawPage(stream, 0n, 1)).events.length === 0))
    throw noPayment()
  const shown = events.slice(0, limit)
  const last = shown.at(-1)
  const isWhole = last === undefined || (isLast && shown.length === events.length)
  return { events: shown, next: isWhole ? null : Number(last.revision) + 1 }
}
