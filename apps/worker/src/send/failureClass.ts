// Why an attempt failed, in a word that an operator can search for.
import { ForbiddenAddressError } from './dialGuard.ts'

export type FailureClass =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'forbidden_address'
  | 'invalid_response'
  | 'network'
  | 'redirect'
  | 'unexpected_status'

const byCode: Readonly<Record<string, FailureClass>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ENODATA: 'dns',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
}

const byPrefix: readonly (readonly [string, FailureClass])[] = [
  ['ERR_TLS', 'tls'],
  ['ERR_SSL', 'tls'],
  ['CERT_', 'tls'],
]

/** The class of an answer that is no success. */
export function statusFailure(httpStatus: number): FailureClass {
  return httpStatus >= 300 && httpStatus < 400 ? 'redirect' : 'unexpected_status'
}

/** The class of an attempt that got no answer. */
export function requestFailure(error: unknown): FailureClass {
  if (error instanceof ForbiddenAddressError) return 'forbidden_address'
  if (!(error instanceof Error)) return 'network'
  if (error.name === 'TimeoutError') return 'timeout'
  // undici gives its parser's errors no code.
  if (error.name === 'HTTPParserError') return 'invalid_response'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const prefixed = byPrefix.find(([prefix]) => code.startsWith(prefix))?.[1]
  return (Object.hasOwn(byCode, code) ? byCode[code] : prefixed) ?? 'network'
}
