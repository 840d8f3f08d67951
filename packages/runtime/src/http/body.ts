// Reads bodies, and bounds how many of their bytes are in memory at a time.
import type { IncomingMessage } from 'node:http'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientNetwork } from './networks.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Reads the body of a request to its end.
     * @throws DomainError `body_too_large`; `service_unavailable` when too much is being read already
     */
    readBody(request: FastifyRequest, payload: IncomingMessage, maxBytes: number): Promise<Buffer>
  }
}

/**
 * Of all requests of a process, from the first byte to the response. A body is in memory several times (bytes, text,
 * what it says), and the process has 512 MB.
 */
const maxBufferedBytes = 64 * 1024 * 1024
/** Of one client address: it takes several to fill the whole. */
const maxBufferedBytesPerAddress = 8 * 1024 * 1024
/** Bodies of one client address that are on their way. Most come together with their headers. */
const maxUnfinishedPerAddress = 128
const firstChunkBytes = 16 * 1024

type BodyUsage = { bytes: number; unfinished: number }

/** Decorates the server with `readBody`. To be called before there are routes. */
export function limitBodies(http: FastifyInstance): void {
  const all: BodyUsage = { bytes: 0, unfinished: 0 }
  const ofAddress = new Map<string, BodyUsage>()
  const bytesOf = new WeakMap<FastifyRequest, number>()

  const usageOf = (address: string) => {
    const held = ofAddress.get(address) ?? { bytes: 0, unfinished: 0 }
    ofAddress.set(address, held)
    return held
  }
  const change = (request: FastifyRequest, { bytes, unfinished }: BodyUsage) => {
    const address = clientNetwork(request.ip)
    const held = usageOf(address)
    for (const count of [all, held]) {
      count.bytes += bytes
      count.unfinished += unfinished
    }
    if (held.bytes === 0 && held.unfinished === 0) ofAddress.delete(address)
    bytesOf.set(request, (bytesOf.get(request) ?? 0) + bytes)
    return (
      all.bytes <= maxBufferedBytes &&
      held.bytes <= maxBufferedBytesPerAddress &&
      held.unfinished <= maxUnfinishedPerAddress
    )
  }

  http.decorate('readBody', async (request, payload, maxBytes) => {
    if (Number(request.headers['content-length']) > maxBytes) throw tooLargeError()
    try {
      if (!change(request, { bytes: 0, unfinished: 1 })) throw overloadedError()
      return await collect(payload, maxBytes, (bytes) => change(request, { bytes, unfinished: 0 }))
    } finally {
      change(request, { bytes: 0, unfinished: -1 })
    }
  })
  // Also of a client that has left: what its handler has of the body is in memory until then.
  http.addHook('onSend', async (request) => {
    const bytes = bytesOf.get(request)
    if (bytes) change(request, { bytes: -bytes, unfinished: 0 })
  })
}

/**
 * Into one buffer that grows: each piece by itself would take up hundreds of bytes, and they may be of one byte.
 * @param take whether there is room for so many more bytes
 */
function collect(payload: IncomingMessage, maxBytes: number, take: (bytes: number) => boolean): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let buffer = Buffer.allocUnsafe(Math.min(maxBytes, firstChunkBytes))
  let length = 0
  const onData = (piece: Buffer) => {
    const needed = length + piece.length
    if (needed > maxBytes) return fail(tooLargeError())
    if (!take(piece.length)) return fail(overloadedError())
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, 2 * buffer.length)))
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    piece.copy(buffer, length)
    length = needed
  }
  // What still comes is not kept; the connection closes after the response.
  const fail = (error: Error) => {
    payload.off('data', onData)
    reject(error)
  }
  payload.on('data', onData)
  payload.once('end', () => resolve(buffer.subarray(0, length)))
  payload.once('error', fail)
  return promise
}

/** Refuses a body for its size. */
export const tooLargeError = () => new DomainError('body_too_large', 'The body is too large')
const overloadedError = () => new DomainError('service_unavailable', 'Too many requests are under way here; try again')
