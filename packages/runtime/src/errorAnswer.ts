// The error envelope as a schema, for the routes' descriptions.
import { Type } from 'typebox'

/** Every answer that is not a success, whatever its status. `details` depends on the code. */
export const ErrorAnswer = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({
    code: Type.String({ description: 'Stable; made for programs' }),
    message: Type.String({ description: 'Made for people; may change' }),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    request_id: Type.String(),
  }),
})
