// A webhook log entry (interface, section 2.6): one delivery, its payload and its result.
import { type Static, Type } from 'typebox'
import { ClientObject, Nullable } from './fields.ts'

const Time = Type.String({ format: 'date-time' })

/** The result of an attempt. Both are set when an endpoint responds with an error status. */
const attemptResult = {
  http_status: Nullable(Type.Integer()),
  error: Nullable(Type.String({ description: 'Short error code; null for a success' })),
}

export const WebhookLogStatus = Type.Enum(['success', 'failed'], {
  title: 'WebhookLogStatus',
  description: 'How the last attempt ended',
})
export type WebhookLogStatus = Static<typeof WebhookLogStatus>

export const WebhookLogEntry = Type.Object(
  {
    id: Type.String({ description: 'The webhook-id header of the request' }),
    provider: Type.String(),
    event_type: Type.String({ description: 'The event name in the request' }),
    status: WebhookLogStatus,
    payload: Nullable(ClientObject({ description: 'Null when personal data in it was erased' })),
    response: Type.Object({
      node: Type.String({ description: 'The endpoint, by its name in the configuration' }),
      test: Type.Boolean({ description: 'True for a test or simulation, which belongs to no payment' }),
      requested_by: Nullable(Type.String({ description: 'The user who requested the test, or null' })),
      ...attemptResult,
      body: Nullable(Type.String({ description: 'The beginning of the last response body' })),
      attempts: Type.Array(Type.Object({ at: Time, ms: Type.Integer(), ...attemptResult }), {
        description: 'In order; if there are very many, only the latest',
      }),
      next_attempt_at: Nullable(Type.String({ format: 'date-time', description: 'Null when no attempt is scheduled' })),
      causation: Type.Object(
        {
          stream: Type.String(),
          revision: Type.Integer(),
          event_id: Type.String(),
          causation_id: Type.String({ description: 'Id of the event or request that led to the event' }),
          correlation_id: Type.String({ description: 'Id of the request or notification at the start of the chain' }),
        },
        { description: 'The recorded event that caused the webhook' },
      ),
    }),
    created_at: Time,
  },
  { title: 'WebhookLogEntry' },
)
export type WebhookLogEntry = Static<typeof WebhookLogEntry>
