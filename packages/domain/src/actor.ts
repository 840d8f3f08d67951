// The caller of a request, and the owner strings that rows are filtered by.
import { allRights, type GrantedRights, noRights, type Right } from './rights.ts'

export type Session = GrantedRights & {
  readonly kind: 'session'
  readonly user_id: string
  readonly user_type: string
  readonly user_email: string | null
}

export type Guest = {
  readonly kind: 'guest'
  readonly guest_email: string
  /** SHA-256 of the token, in hex. */
  readonly token_hash: string
  /** The token has expired, but was recorded while valid: its holder may change the guest's data, but not read it. */
  readonly is_remembered?: true
}

export type Anonymous = { readonly kind: 'anonymous' }

/** A command of the operators' command line, which calls routes in its own process. */
export type Operator = { readonly kind: 'operator' }

export type Actor = Session | Guest | Anonymous | Operator

/** What a caller may do beyond what is theirs. The operators' command line may do everything: it holds the secrets. */
export function grantedRights(actor: Actor): GrantedRights {
  if (actor.kind === 'operator') return allRights
  return actor.kind === 'session' ? actor : noRights
}

export const hasRight = (actor: Actor, right: Right): boolean => grantedRights(actor).rights.includes(right)

/** The actor's name in event metadata: no e-mail, no credential. */
export function actorName(actor: Actor): string {
  return actor.kind === 'session' ? `session:${actor.user_id}` : actor.kind
}

/** The owner of rows created with a session: its user. */
export function userOwner(userId: string): string {
  return `user:${userId}`
}

/** The owner of rows created without a session: everyone with a guest token for this e-mail, ignoring ASCII case. */
export function guestOwner(email: string): string {
  return `guest:${foldEmail(email)}`
}

export const isGuestOwner = (owner: string) => owner.startsWith('guest:')

/** A keyed hash. Without its key nobody can find a text by trying. */
export type KeyedHash = (text: string) => string

/** An owner as ids may derive from it: from a plain hash of an e-mail, whoever guesses the e-mail can tell that it is right. */
export const hiddenOwner = (owner: string, hash: KeyedHash): string => (isGuestOwner(owner) ? hash(owner) : owner)

/** The owner whose rows a caller may see. */
export function ownerOf(actor: Session | Guest): string {
  return actor.kind === 'session' ? userOwner(actor.user_id) : guestOwner(actor.guest_email)
}

/**
 * Lower-cases ASCII letters only. Unicode case rules would make an address with a Kelvin sign equal to one with a plain k,
 * but these belong to two people.
 */
export function foldEmail(email: string): string {
  return email.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** The owner recorded in these two fields: the user if there is one, otherwise the guest, otherwise null. */
export function recordedOwner(recorded: { readonly user_id: string | null; readonly guest_email: string | null }) {
  if (recorded.user_id !== null) return userOwner(recorded.user_id)
  return recorded.guest_email === null ? null : guestOwner(recorded.guest_email)
}
