// Lists as CSV files: whoever asks for `text/csv` gets all rows of the filter, streamed, from the description of the list's route.
import { Readable } from 'node:stream'
import { actorName } from '@paylog/domain/actor'
import { byteOrderMark } from '@paylog/domain/csvCell'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import Negotiator from 'negotiator'
import type { Pool, PoolClient } from 'pg'
import { type TObject, Type } from 'typebox'
import { type CsvTable, csvTable } from '../csv/csvTable.ts'
import { createConcurrencyLimit } from '../limits/concurrencyLimit.ts'
import { timeZone, timeZoneParameter } from '../timeZones.ts'
import { requireRight } from './callers.ts'
import { describedAudit, listOf, type RecordAction } from './guardRoutes.ts'
import type { RouteNotes } from './openApiSchemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The rows of the route's list, where `listFiles` sends it as a file too. */
    readonly file?: ListFile
  }
}

/** What a request asks for. */
export type FileRequest = {
  readonly query: Readonly<Record<string, unknown>>
  readonly params: Readonly<Record<string, unknown>>
}

/** All rows of a list. */
export type FileRows = {
  /** How many `batches` will have. */
  readonly count: number
  readonly batches: AsyncIterable<readonly object[]> | Iterable<readonly object[]>
}

export type ListFile = {
  /** Of the list, in the name of the file and in the audit trail. */
  readonly name: string
  readonly item: TObject
  readonly example: object
  /**
   * Opens all rows of a request, without its page.
   * @param client in a transaction that sees one moment, and that lasts until the rows are read
   */
  open(request: FileRequest, client: PoolClient): Promise<FileRows>
}

/** A short list, all of whose rows are read at once. */
export const wholeList = (
  about: Omit<ListFile, 'open'>,
  read: (...args: Parameters<ListFile['open']>) => Promise<readonly object[]>,
): ListFile => ({
  ...about,
  async open(...args) {
    const items = await read(...args)
    return { count: items.length, batches: [items] }
  },
})

type Files = {
  /** Each file has one session until it is sent. */
  readonly pool: Pool
  readonly record: RecordAction
}

const csv = 'text/csv'
/** Of one caller, in this process. */
const maxConcurrentFiles = 2
/** A session in a transaction keeps Postgres from cleaning up, and a new table of a read model from taking over. */
const maxFileMs = 600_000
/** Rows that are in memory at a time. */
export const fileBatchRows = 500

/**
 * Sends the lists that are registered in this scope afterwards as files too, to callers with the right to export. The audit trail has
 * each file before its first byte. An error after that breaks off the connection: a file is complete when its response has ended
 * properly, and has as many rows as `X-Row-Count` says.
 */
export function listFiles(scope: FastifyInstance, files: Files): void {
  const limit = createConcurrencyLimit(maxConcurrentFiles)
  scope.addHook('onRoute', (route) => {
    const { file } = route.config ?? {}
    if (file === undefined) return
    const { handler } = route
    route.onRequest = [...listOf(route.onRequest), requireExport]
    route.schema = describedFile(route, file)
    route.handler = function respond(request, reply) {
      const send = () => sendFile(files, file, request, reply)
      return prefersFile(request) ? limit(actorName(request.actor), reply, send) : handler.call(this, request, reply)
    }
  })
}

/** JSON is the default, also for who accepts neither. */
const prefersFile = ({ headers }: FastifyRequest) =>
  new Negotiator({ headers }).mediaType(['application/json', csv]) === csv

async function requireExport(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  // Caches, and the origin that CORS has put there.
  const vary = reply.getHeader('vary')
  reply.header('vary', vary === undefined ? 'Accept' : `${vary}, Accept`)
  if (prefersFile(request)) requireRight(request.actor, 'export')
}

/** A response to HEAD has the same headers, and is no export. */
async function sendFile(
  { pool, record }: Files,
  { name, item, open }: ListFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const wanted = request as FileRequest
  const zone = timeZone(String(wanted.query.time_zone))
  const snapshot = await openSnapshot(pool)
  // Whether it was sent, or its client has gone away.
  reply.raw.once('close', snapshot.end)
  const rows = await open(wanted, snapshot.client).catch((error: unknown) => {
    if (!reply.raw.destroyed) throw error
  })
  if (rows === undefined) return reply.hijack()
  const isFile = request.method !== 'HEAD'
  const details = detailsOf(wanted, rows.count)
  const end = isFile && (await record(request, { action: 'export_list', target: { kind: 'list', id: name }, details }))
  const day = zone.format(new Date().toISOString()).slice(0, 10)
  reply.type(`${csv}; charset=utf-8`)
  reply.header('content-disposition', `attachment; filename="${name}-${day}.csv"`)
  reply.header('x-row-count', rows.count)
  const lines = end ? textOf(csvTable(item, zone), rows, end) : []
  return reply.send(Readable.from(lines, { objectMode: false, signal: snapshot.signal }))
}

type Snapshot = {
  readonly client: PoolClient
  /** Aborts after the longest time that a file may take. */
  readonly signal: AbortSignal
  /** May be called again. */
  end(): void
}

/** A transaction that sees one moment, in a session that ends with it, even in the middle of a statement. */
async function openSnapshot(pool: Pool): Promise<Snapshot> {
  const client = await pool.connect()
  const tooLong = new AbortController()
  const timer = setTimeout(() => tooLong.abort(new Error(`A file took longer than ${maxFileMs} ms`)), maxFileMs)
  let isOpen = true
  function end() {
    clearTimeout(timer)
    if (isOpen) client.release(true)
    isOpen = false
  }
  tooLong.signal.addEventListener('abort', end, { once: true })
  try {
    await client.query('begin isolation level repeatable read, read only')
  } catch (error) {
    end()
    throw error
  }
  return { client, signal: tooLong.signal, end }
}

async function* textOf(
  table: CsvTable,
  { count, batches }: FileRows,
  end: Awaited<ReturnType<RecordAction>>,
): AsyncGenerator<string> {
  let sent = 0
  yield byteOrderMark + table.header
  for await (const rows of batches) {
    sent += rows.length
    yield rows.map(table.lineOf).join('')
  }
  if (sent !== count) throw new Error(`A file has ${sent} rows instead of ${count}`)
  await end('done')
}

/** Which rows, and in which order, but not which page. */
const ofPages: ReadonlySet<string> = new Set(['page', 'limit', 'offset', 'cursor'])
/** What people type may name a person. */
const typed: ReadonlySet<string> = new Set(['search', 'guest_email', 'actor_email', 'reference_code'])

function detailsOf({ query, params }: FileRequest, rows: number): Record<string, unknown> {
  const given = Object.entries({ ...params, ...query }).filter(
    ([name, value]) => value !== undefined && !ofPages.has(name),
  )
  return { ...Object.fromEntries(given.map(([name, value]) => [name, typed.has(name) ? '(left out)' : value])), rows }
}

const fileHeaders = {
  'X-Row-Count': Type.Integer({ description: 'Of a file: the number of its rows, without the header' }),
  'Content-Disposition': Type.String({ description: 'Of a file: its name' }),
}

const description =
  'All rows of the filter, of one moment; `page`, `limit`, `offset` and `cursor` are ignored. Needs the right `export` too, and is in the ' +
  'audit trail. UTF-8 with a byte order mark, lines end with CRLF. The file is complete when the response ends properly, not by a broken ' +
  'connection; it then has the rows of `X-Row-Count`.'

function describedFile({ schema = {} }: RouteOptions, { item, example }: ListFile): object {
  const { header, lineOf } = csvTable(item, timeZone('UTC'))
  const { querystring } = schema
  const parameters = Type.IsObject(querystring) ? querystring.properties : {}
  const note: RouteNotes = { 'x-csv': { description, example: header + lineOf(example), headers: fileHeaders } }
  const time_zone = Type.With(timeZoneParameter, { description: 'Of the times in a file: an IANA name' })
  return { ...describedAudit(schema), ...note, querystring: Type.Object({ time_zone, ...parameters }) }
}
