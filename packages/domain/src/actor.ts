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
