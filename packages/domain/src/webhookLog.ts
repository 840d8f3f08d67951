// A webhook log entry (interface, section 2.6): one delivery, what was sent and what came of it.
import { type Static, Type } from 'typebox'
import { ClientObject, Nullable } from './fields.ts'

const Time = Type.String({ format: 'date-time' })

/** What the last attempt says, or one of several. Neither is there without the other: an error may come with an answer. */
const attemptResult = {
  http_status: Nullable(Type.Integer()),
  error: Nullable(Type.String({ description: 'Why it failed, in a word; null for a success' })),
}

export const WebhookLogStatus = Type.Enum(['success', 'failed'], { description: 'How the last attempt ended' })
export type WebhookLogStatus = Static<typeof WebhookLogStatus>

export const WebhookLogEntry = Type.Object({
  id: Type.String({ description: 'The webhook-id that the endpoint was sent' }),
  provider: Type.String(),
  event_type: Type.String({ description: 'The name on the wire' }),
  status: WebhookLogStatus,
  payload: ClientObject(),
  response: Type.Object({
    node: Type.String({ description: 'The endpoint, by its name in the configuration' }),
    test: Type.Boolean({ description: 'It was sent by a test or a simulation, and is about no payment' }),
    requested_by: Nullable(Type.String({ description: 'The user whose session asked for the test; else null' })),
    ...attemptResult,
    body: Nullable(Type.String({ description: 'The start of what the last attempt was answered' })),
    attempts: Type.Array(Type.Object({ at: Time, ms: Type.Integer(), ...attemptResult }), {
      description: 'In their order; of very many only the last',
    }),
    next_attempt_at: Nullable(Type.String({ format: 'date-time', description: 'Null when none is planned' })),
    causation: Type.Object(
      {
        stream: Type.String(),
        revision: Type.Integer(),
        event_id: Type.String(),
        causation_id: Type.String({ description: 'What the event was recorded because of' }),
        correlation_id: Type.String({ description: 'What all of it began with' }),
      },
      { description: 'The recorded event that the webhook tells of, and where it came from' },
    ),
  }),
  created_at: Time,
})
export type WebhookLogEntry = Static<typeof WebhookLogEntry>
