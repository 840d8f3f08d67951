// Extracts the credentials of a request, in the order in which they are tried (interface, section 5).
import type { IncomingHttpHeaders } from 'node:http'

export type PresentedCredential =
  | { readonly kind: 'session' | 'guest_token'; readonly value: string }
  /** Present but malformed: the caller is neither anonymous nor authenticated by it. */
  | { readonly kind: 'unusable'; readonly value: unknown }

/** Longer than any credential of an identity backend. Longer values are rejected without a call. */
const maxCredentialLength = 1024

/**
 * The credentials of a request in the order in which they are tried: the Authorization header, X-Session-ID,
 * X-Guest-Token, the `session_id` query parameter, the `token` query parameter. Empty for an anonymous request.
 *
 * @param request `query` is the parsed query string, if there is one: a repeated parameter is an array
 */
export function presentedCredentials(request: {
  readonly headers: IncomingHttpHeaders
  readonly query: unknown
}): readonly PresentedCredential[] {
  const { headers } = request
  const query: { readonly session_id?: unknown; readonly token?: unknown } = Object(request.query)
  return [
    present(headers.authorization, authorizationCredential),
    present(headers['x-session-id'], sessionCredential),
    present(headers['x-guest-token'], guestCredential),
    present(query.session_id, sessionCredential),
    present(query.token, guestCredential),
  ].filter((credential) => credential !== undefined)
}

function present(value: unknown, credentialOf: (value: unknown) => PresentedCredential) {
  return value === undefined ? undefined : credentialOf(value)
}

const sessionCredential = (value: unknown) => credential('session', value)
const guestCredential = (value: unknown) => credential('guest_token', value)

function authorizationCredential(value: unknown): PresentedCredential {
  const [, scheme, presented] = typeof value === 'string' ? (/^([a-z]+) +(.*)$/i.exec(value) ?? []) : []
  switch (scheme?.toLowerCase()) {
    case 'bearer':
      return sessionCredential(presented)
    case 'token':
      return guestCredential(presented)
    default:
      return { kind: 'unusable', value }
  }
}

/**
 * A credential is visible ASCII. This also excludes a header that was sent twice, which Node joins with a comma and a
 * space, and a repeated query parameter, which is an array: choosing one of two would be a guess.
 */
function credential(kind: 'session' | 'guest_token', value: unknown): PresentedCredential {
  const usable = typeof value === 'string' && value.length <= maxCredentialLength && /^[\x21-\x7e]+$/.test(value)
  return usable ? { kind, value } : { kind: 'unusable', value }
}
