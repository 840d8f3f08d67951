// Which fields of events identify a person or are secrets. The codec seals them with keys that can be destroyed.
import { type TProperties, type TSchema, Type } from 'typebox'

/**
 * The parts of an event that are sealed apart, because other keys open them:
 * - `personal`: the key of the subject.
 * - `guest`: guest data in a payment that a session made; the keys of the subject and of the guest.
 * - `body`: what a provider sent; the keys of the subject and of a guest, and that of the day it was received.
 * - `secret`: what lets its holder pay; the key of the subject, and that of the day it was made.
 */
export const sealedParts = ['personal', 'guest', 'body', 'secret'] as const
export type SealedPart = (typeof sealedParts)[number]

/** The keyword of a sealed field's schema. */
export const sealedKeyword = 'x-sealed'

/** A field that is stored sealed. It is null when it has no value, and when a key of its part was destroyed. */
export const Sealed = <Schema extends TSchema>(part: SealedPart, schema: Schema) =>
  Type.Union([schema, Type.Null()], { [sealedKeyword]: part })

export const PersonalText = Sealed('personal', Type.String())

/** The keyword of an `OwnerEvent`. */
export const ownerKeyword = 'x-owner'

/**
 * An event that says whose data follows in its stream. What follows is sealed with the keys of this event, and is recorded
 * without personal data once they are destroyed: a person who returns later is somebody else. Its personal part is sealed even
 * when it is empty, so that these keys are known.
 */
export const OwnerEvent = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { [ownerKeyword]: true })

/** Whose personal data a stream holds. Each is the name of a key, and none is ever stored. */
export type Subject = {
  /** An owner, as in actor.ts, or `payment:<id>` for a payment that has none. */
  readonly name: string
  /** The owner of guest data, where that is somebody else. */
  readonly guest: string | null
  /** The e-mail by which the subject is also found. */
  readonly email: string | null
}

export const subjectNamed = (name: string | null): Subject | null =>
  name === null ? null : { name, guest: null, email: null }
