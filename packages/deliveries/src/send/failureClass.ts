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
  | 'gone'
  | 'rate_limited'
  | 'rejected'
  | 'unexpected_status'

const codes: Readonly<Record<string, FailureClass>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  INVALID_CA: 'tls',
  INVALID_PURPOSE: 'tls',
  PATH_LENGTH_EXCEEDED: 'tls',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_response',
}
const byCode: ReadonlyMap<string, FailureClass> = new Map(Object.entries(codes))

const byPrefix: readonly (readonly [string, FailureClass])[] = [
  ['EAI_', 'dns'],
  ['ERR_TLS', 'tls'],
  ['ERR_SSL', 'tls'],
  ['CERT_', 'tls'],
  ['SELF_SIGNED_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['HPE_', 'invalid_response'],
]

/** Answers of undici's that are about the other side's HTTP, and have no code of their own. */
const invalidResponses: readonly string[] = ['bad response', 'bad upgrade']

/** The class of an answer that is no success. */
export function statusFailure(httpStatus: number): FailureClass {
  if (httpStatus >= 300 && httpStatus < 400) return 'redirect'
  if (httpStatus === 410) return 'gone'
  if (httpStatus === 429) return 'rate_limited'
  // A chat service says in the body that it took nothing.
  return httpStatus === 200 ? 'rejected' : 'unexpected_status'
}

/** The class of an attempt that got no answer. */
export function requestFailure(error: unknown): FailureClass {
  if (error instanceof ForbiddenAddressError) return 'forbidden_address'
  if (!(error instanceof Error)) return 'network'
  if (error.name === 'TimeoutError') return 'timeout'
  // undici gives some of its parser's errors no code.
  if (error.name === 'HTTPParserError' || invalidResponses.includes(error.message)) return 'invalid_response'
  const code = failureCode(error) ?? ''
  return byCode.get(code) ?? byPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'network'
}

/** The code of an error; unlike its message it holds nothing of the address. */
export function failureCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
