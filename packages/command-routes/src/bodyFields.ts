// Fields of bodies that clients may leave out, or send as null to say nothing or to clear what is there.
import { maxTextLength, Nullable } from '@paylog/domain/fields'
import { Type } from 'typebox'

type FieldOptions = { readonly description?: string }

export const optionalText = (about: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ maxLength: maxTextLength, ...about })))

export const optionalEmail = (about: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ format: 'email', maxLength: maxTextLength, ...about })))
