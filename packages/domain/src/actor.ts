// Who is calling: what the identity backend said about the credential that was presented.

export type Session = {
  readonly kind: 'session'
  readonly user_id: string
  readonly user_type: string
  readonly user_email: string | null
  readonly is_administrator: boolean
}

export type Guest = {
  readonly kind: 'guest'
  readonly guest_email: string
  /** SHA-256 of the token, in hex. */
  readonly token_hash: string
  /** The token has expired, and is known from an earlier payment: its holder may change what the guest has, not read it. */
  readonly is_remembered?: true
}

export type Anonymous = { readonly kind: 'anonymous' }

export type Actor = Session | Guest | Anonymous

/** The name under which an actor's deeds are recorded: no e-mail, no credential. */
export function actorName(actor: Actor): string {
  return actor.kind === 'session' ? `session:${actor.user_id}` : actor.kind
}

// Whom a row belongs to, as one text that lists and gets filter by.

/** What is made with a session belongs to its user alone. */
export function userOwner(userId: string): string {
  return `user:${userId}`
}

/** What is made without a session belongs to whoever holds a guest token of the same e-mail, whatever its case. */
export function guestOwner(email: string): string {
  return `guest:${foldEmail(email)}`
}

/** Whose rows a caller may see. */
export function ownerOf(actor: Exclude<Actor, { kind: 'anonymous' }>): string {
  return actor.kind === 'session' ? userOwner(actor.user_id) : guestOwner(actor.guest_email)
}

/**
 * E-mails compare without case, but of ASCII letters only: the full rules of Unicode would make an address with a Kelvin
 * sign and one with a plain k the same, and these are two people.
 */
export function foldEmail(email: string): string {
  return email.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Whom a thing belongs to whose owner is recorded in these two fields: a user, or else the guest of that e-mail. */
export function recordedOwner(thing: { readonly user_id: string | null; readonly guest_email: string | null }) {
  if (thing.user_id !== null) return userOwner(thing.user_id)
  return thing.guest_email === null ? null : guestOwner(thing.guest_email)
}
