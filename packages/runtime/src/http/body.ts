// Request bodies: strict JSON parsing, raw bodies for signatures, and limits for the bytes in memory.

import type { IncomingMessage } from 'node:http'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientNetwork } from './networks.ts'

const maxDepth = 32

/**
 * Parses JSON, and rejects what Postgres or other parsers could read differently: duplicate keys, `__proto__`, nesting
 * deeper than 32, numbers out of range, integers that a double cannot hold exactly, and NUL or unpaired surrogates in text
 * (Postgres stores neither, so one such event would stop a projector).
 * @throws DomainError `invalid_request`; its message never quotes the text
 */
export function parseStrictJson(text: string): unknown {
  if (!text.isWellFormed()) throw invalidBody('The body is not well-formed text')
  const value = parse(text)
  // The text is valid JSON, so the scan only has to recognise strings, brackets and numbers.
  scan(text)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidBody('The body is not valid JSON', error)
  }
}

/** Strings, brackets, commas and numbers. In valid JSON it matches nothing else. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|-?\d[-+.eE\d]*/g

function scan(text: string): void {
  // One entry per open bracket: the keys seen so far in an object, null in an array.
  const open: (Set<string> | null)[] = []
  let expectsKey = false
  for (const [token] of text.matchAll(tokens)) {
    switch (token[0]) {
      case '"': {
        const content = stringContent(token)
        if (expectsKey) addKey(open.at(-1), content)
        expectsKey = false
        break
      }
      case '{':
      case '[':
        open.push(token === '{' ? new Set() : null)
        if (open.length > maxDepth) throw invalidBody(`The body is nested deeper than ${maxDepth} levels`)
        expectsKey = token === '{'
        break
      case '}':
      case ']':
        open.pop()
        expectsKey = false
        break
      case ',':
        expectsKey = open.at(-1) instanceof Set
        break
      default:
        requireExactNumber(token)
    }
  }
}

function addKey(keys: Set<string> | null | undefined, key: string): void {
  if (!keys) return
  if (key === '__proto__') throw invalidBody('The body contains a forbidden key')
  if (keys.has(key)) throw invalidBody('The body contains a duplicate key')
  keys.add(key)
}

function stringContent(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  const content = String(JSON.parse(literal))
  if (content.includes('\0')) throw invalidBody('Text in the body contains a NUL character')
  if (!content.isWellFormed()) throw invalidBody('Text in the body contains an unpaired surrogate')
  return content
}

function requireExactNumber(literal: string): void {
  const number = Number(literal)
  // JSON.parse reads 1e999 as Infinity, which JSON.stringify would write back as null.
  if (!Number.isFinite(number)) throw invalidBody('The body contains a number out of range')
  // It rounds 9007199254740993, so the stored value would differ from the sent one.
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(number))
    throw invalidBody('The body contains an integer that is too large to be stored exactly')
}

function invalidBody(message: string, cause?: unknown): DomainError {
  return new DomainError('invalid_request', message, undefined, { cause })
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Reads the body of a request to its end.
     * @throws DomainError `body_too_large`; `service_unavailable` when too many bytes are in memory
     */
    readBody(request: FastifyRequest, payload: IncomingMessage, maxBytes: number): Promise<Buffer>
  }
}

/**
 * For all requests of a process, counted from the first byte to the response. A body is in memory several times (bytes,
 * text, parsed value), and the process has 512 MB.
 */
const maxBufferedBytes = 64 * 1024 * 1024
/** Per client address, so that one client cannot use up the total. */
const maxBufferedBytesPerAddress = 8 * 1024 * 1024
/** Incomplete bodies per client address. Most bodies arrive together with their headers. */
const maxUnfinishedPerAddress = 128
const firstChunkBytes = 16 * 1024

type BodyUsage = { bytes: number; unfinished: number }
/** What a request has in memory, and what all requests of its client address have. */
type HeldBody = { readonly address: string; readonly ofAddress: BodyUsage; bytes: number }

/** Decorates the server with `readBody`. Must be called before routes are registered. */
export function limitBodies(http: FastifyInstance): void {
  const all: BodyUsage = { bytes: 0, unfinished: 0 }
  const addresses = new Map<string, BodyUsage>()
  const bodies = new WeakMap<FastifyRequest, HeldBody>()

  const hold = (request: FastifyRequest): HeldBody => {
    const address = clientNetwork(request.ip)
    const ofAddress = addresses.get(address) ?? { bytes: 0, unfinished: 0 }
    addresses.set(address, ofAddress)
    const body = { address, ofAddress, bytes: 0 }
    bodies.set(request, body)
    return body
  }
  const change = (body: HeldBody, { bytes, unfinished }: BodyUsage): boolean => {
    const { address, ofAddress } = body
    body.bytes += bytes
    for (const usage of [all, ofAddress]) {
      usage.bytes += bytes
      usage.unfinished += unfinished
    }
    if (ofAddress.bytes === 0 && ofAddress.unfinished === 0) addresses.delete(address)
    return (
      all.bytes <= maxBufferedBytes &&
      ofAddress.bytes <= maxBufferedBytesPerAddress &&
      ofAddress.unfinished <= maxUnfinishedPerAddress
    )
  }

  http.decorate('readBody', async (request, payload, maxBytes) => {
    const announced = Number(request.headers['content-length'] ?? firstChunkBytes)
    if (announced > maxBytes) throw tooLargeError()
    const body = hold(request)
    try {
      if (!change(body, { bytes: 0, unfinished: 1 })) throw overloadedError()
      const firstBytes = Math.min(announced, firstChunkBytes, maxBytes)
      return await collect(payload, { maxBytes, firstBytes }, (bytes) => change(body, { bytes, unfinished: 0 }))
    } finally {
      change(body, { bytes: 0, unfinished: -1 })
    }
  })
  // Runs for disconnected clients, too: the handler keeps the body in memory until then.
  http.addHook('onSend', (request, _reply, _payload, done) => {
    const body = bodies.get(request)
    if (body) change(body, { bytes: -body.bytes, unfinished: 0 })
    done()
  })
}

/**
 * Collects into one growing buffer, because chunks may be one byte long and each chunk object takes hundreds of bytes.
 * @param firstBytes the size of the buffer to begin with
 * @param take reserves bytes; returns false when a limit is exceeded
 */
function collect(
  payload: IncomingMessage,
  { maxBytes, firstBytes }: { readonly maxBytes: number; readonly firstBytes: number },
  take: (bytes: number) => boolean,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let buffer = Buffer.allocUnsafe(firstBytes)
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
  // Later bytes are discarded; the connection closes after the response.
  const fail = (error: Error) => {
    payload.off('data', onData)
    reject(error)
  }
  payload.on('data', onData)
  payload.once('end', () => resolve(buffer.subarray(0, length)))
  payload.once('error', fail)
  return promise
}

const tooLargeError = () => new DomainError('body_too_large', 'The body is too large')
const overloadedError = () => new DomainError('service_unavailable', 'Too many concurrent requests; try again')

const rawBodyLimitBytes = 1024 * 1024

/**
 * In this scope (plugin), a body of any content type, or of none, arrives as a `Buffer` of at most 1 MiB, so that a
 * signature over it can be verified. A request without a body has `undefined`.
 */
export function rawBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  // Fastify would reject a malformed content type before it calls a parser.
  scope.addHook('onRequest', async ({ headers }) => {
    // Before the signature is checked: 413 takes precedence over 400.
    if (Number(headers['content-length']) > rawBodyLimitBytes) throw tooLargeError()
    delete headers['content-type']
  })
  scope.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    scope.readBody(request, payload, rawBodyLimitBytes),
  )
}
