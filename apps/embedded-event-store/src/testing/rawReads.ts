// Read without the client, which does not support everything in the protocol.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { deadline, type Failed, failed } from './rawCalls.ts'

export type ReadForm = {
  /** Default: the whole log. */
  readonly stream?: string
  readonly backwards?: boolean
  readonly from: 'start' | 'end' | bigint
  /** `null` makes it a subscription. */
  readonly count?: number | null
  readonly resolveLinks?: boolean
  readonly filter?: RawFilter
  readonly compatibility?: number
  readonly ids?: 'string' | 'structured'
}

export type RawFilter = {
  readonly by: 'stream' | 'type'
  readonly regex?: string
  readonly prefixes?: readonly string[]
  readonly window?: number
  readonly interval?: number
}

export function readRequest(form: ReadForm): ReadReq {
  const { ReadDirection } = streams.ReadReq.Options
  const options = new streams.ReadReq.Options()
  options.setReadDirection(form.backwards ? ReadDirection.BACKWARDS : ReadDirection.FORWARDS)
  options.setResolveLinks(form.resolveLinks ?? false)
  if (form.stream === undefined) options.setAll(allOptions(form.from))
  else options.setStream(streamOptions(form.stream, form.from))
  if (form.filter === undefined) options.setNoFilter(new shared.Empty())
  else options.setFilter(filterOptions(form.filter))
  if (form.count === null) options.setSubscription(new streams.ReadReq.Options.SubscriptionOptions())
  else options.setCount(String(form.count ?? 1_000))
  const ids = new streams.ReadReq.Options.UUIDOption()
  options.setUuidOption(
    form.ids === 'structured' ? ids.setStructured(new shared.Empty()) : ids.setString(new shared.Empty()),
  )
  if (form.compatibility !== undefined) {
    options.setControlOption(new streams.ReadReq.Options.ControlOption().setCompatibility(form.compatibility))
  }
  return new streams.ReadReq().setOptions(options)
}

function streamOptions(stream: string, from: ReadForm['from']): ReadReq.Options.StreamOptions {
  const options = new streams.ReadReq.Options.StreamOptions()
  options.setStreamIdentifier(streamIdentifier(stream))
  if (from === 'start') return options.setStart(new shared.Empty())
  return from === 'end' ? options.setEnd(new shared.Empty()) : options.setRevision(String(from))
}

function allOptions(from: ReadForm['from']): ReadReq.Options.AllOptions {
  const options = new streams.ReadReq.Options.AllOptions()
  if (from === 'start') return options.setStart(new shared.Empty())
  if (from === 'end') return options.setEnd(new shared.Empty())
  const position = new streams.ReadReq.Options.Position()
  position.setCommitPosition(String(from))
  position.setPreparePosition(String(from))
  return options.setPosition(position)
}

function filterOptions(filter: RawFilter): ReadReq.Options.FilterOptions {
  const expression = new streams.ReadReq.Options.FilterOptions.Expression()
  if (filter.regex !== undefined) expression.setRegex(filter.regex)
  expression.setPrefixList([...(filter.prefixes ?? [])])
  const options = new streams.ReadReq.Options.FilterOptions()
  if (filter.by === 'type') options.setEventType(expression)
  else options.setStreamIdentifier(expression)
  if (filter.window === undefined) options.setCount(new shared.Empty())
  else options.setMax(filter.window)
  options.setCheckpointintervalmultiplier(filter.interval ?? 1)
  return options
}

export type Messages = { readonly messages: readonly ReadResp[]; readonly failed?: Failed }

/** All messages of a read until it ends or fails. */
export function readMessages(client: StreamsClient, request: ReadReq): Promise<Messages> {
  return new Promise((resolve) => {
    const messages: ReadResp[] = []
    const call = client.read(request, new Metadata(), deadline())
    call.on('data', (message: ReadResp) => messages.push(message))
    call.on('error', (error: ServiceError) => resolve({ messages, failed: failed(error) }))
    call.on('end', () => resolve({ messages }))
  })
}

export type OpenRead = {
  readonly messages: readonly ReadResp[]
  /** How the read ended; undefined while it is open. */
  readonly ended: () => 'normally' | Failed | undefined
  readonly cancel: () => void
}

/** A read that may stay open, such as a subscription. `onChange` is called at every message and at the end. */
export function openRead(client: StreamsClient, request: ReadReq, onChange: () => void = () => undefined): OpenRead {
  const messages: ReadResp[] = []
  let ended: 'normally' | Failed | undefined
  const call = client.read(request)
  call.on('data', (message: ReadResp) => {
    messages.push(message)
    onChange()
  })
  call.on('error', (error: ServiceError) => {
    ended ??= failed(error)
    onChange()
  })
  call.on('end', () => {
    ended ??= 'normally'
    onChange()
  })
  return { messages, ended: () => ended, cancel: () => call.cancel() }
}
