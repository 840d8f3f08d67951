// Refuses requests that a proxy before us could read differently, or whose sender expects what we do not do (RFC 9112).
import { DomainError } from '@paylog/domain/errors'
import type { FastifyRequest } from 'fastify'

/**
 * @param request with several headers of one name joined by commas
 * @throws DomainError `invalid_request`
 */
export function validateHeaders({ headers, raw }: FastifyRequest): void {
  const { host, expect } = headers
  const encoding = headers['transfer-encoding']
  if (raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') throw invalidHeader('Only HTTP/1.1 is spoken here')
  if (host === undefined && raw.httpVersion === '1.1') throw invalidHeader('The Host header is required')
  if (host !== undefined && !/^[^\s,/?#@]*$/.test(host)) throw invalidHeader('The Host header is invalid')
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw invalidHeader('Transfer-Encoding must be chunked')
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw invalidHeader('Expect must be 100-continue')
}

function invalidHeader(message: string): DomainError {
  return new DomainError('invalid_request', message)
}
