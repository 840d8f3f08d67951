// What PayPal's ids and words are made of.
import { Type } from 'typebox'

/** Printable ASCII: ids and words end in the names of streams, in tables and in webhooks. */
export const Code = Type.String({ pattern: '^[\\x20-\\x7e]+$', maxLength: 200 })
