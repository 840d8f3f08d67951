// Why an attempt failed, in words.

const texts: Readonly<Record<string, string>> = {
  timeout: 'no response in time',
  connection_refused: 'connection refused',
  connection_reset: 'connection closed',
  unreachable: 'host unreachable',
  dns: 'host name not found',
  network: 'no connection',
  tls: 'no valid TLS certificate',
  invalid_response: 'the response is not HTTP',
  redirect: 'redirected, which does not count',
  rate_limited: 'too many requests for the endpoint',
  gone: 'gone for good',
  rejected: 'the chat service did not accept it',
  forbidden_address: 'a private address, which is blocked',
  erased: 'not sent: personal data was erased',
}

/** For example "connection refused" or "HTTP 503". @param error the short code of the API */
export function failureText(error: string, httpStatus: number | null): string {
  const status = httpStatus === null ? undefined : `HTTP ${httpStatus}`
  const text = texts[error] ?? error.replaceAll('_', ' ')
  if (status === undefined) return text
  return error === 'unexpected_status' ? status : `${status}, ${text}`
}
