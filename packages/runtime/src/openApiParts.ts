// What the descriptions of all routes have in common: the error envelope, and how callers present themselves.
import { Type } from 'typebox'

/** Every answer that is not a success, whatever its status. `details` depends on the code. */
export const ErrorAnswer = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String({ description: 'Stable; made for programs' }),
      message: Type.String({ description: 'Made for people; may change' }),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      request_id: Type.String(),
    }),
  },
  { description: 'An error' },
)

export const errorAnswers = { '4xx': ErrorAnswer, '5xx': ErrorAnswer }

/** The ways to present a credential; the interface's section 5 has their order. */
export const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: 'A session. Also as `Authorization: Bearer <session>`, or `session_id` in the query.',
  },
  guest: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Guest-Token',
    description: 'A guest token. Also as `Authorization: Token <token>`, or `token` in the query.',
  },
} as const

/** A session or a guest token is asked for. */
export const callerSecurity = [{ session: [] }, { guest: [] }]
