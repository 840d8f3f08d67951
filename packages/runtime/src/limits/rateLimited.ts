// How a caller is told of a limit, and that it is reached.
import { DomainError } from '@paylog/domain/errors'
import type { FastifyReply } from 'fastify'
import type { RequestCount } from './requestCounts.ts'

/** Sets the headers by which a client can keep within a limit of so many in a window. */
export function setLimitHeaders(reply: FastifyReply, max: number, { count, restMs }: RequestCount): void {
  reply.headers({
    'ratelimit-limit': max,
    'ratelimit-remaining': Math.max(0, max - count),
    'ratelimit-reset': Math.ceil(restMs / 1_000),
  })
}

/** @throws DomainError `rate_limited`, with `Retry-After` */
export function throwRateLimited(reply: FastifyReply, restMs: number): never {
  const seconds = Math.max(1, Math.ceil(restMs / 1_000))
  reply.header('retry-after', seconds)
  throw new DomainError('rate_limited', 'Too many requests; try again later', { retry_after_seconds: seconds })
}
