// What the descriptions of all routes have in common: the envelopes, and how callers present themselves.
import { type TSchema, Type } from 'typebox'

/** The envelope of every answer with one resource. @param options `headers` are those of the answer, by their names */
export const dataAnswer = <Data extends TSchema>(
  data: Data,
  options: { readonly description: string; readonly headers: object; readonly examples?: readonly object[] },
) => Type.Object({ success: Type.Literal(true), data }, options)

export const etagHeader = {
  ETag: Type.String({ description: 'The revision of the resource that the answer shows, for If-Match' }),
}

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
