// Assembles the chunks of a BatchAppend call, and replies to each append once.
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { tooManyPendingBytes, unknown } from '../protocol/callError.ts'
import { BadRequestError, uuidOf } from '../protocol/identifiers.ts'
import { createAssemblies } from './assemblies.ts'
import { type Assembly, addChunk, beginAssembly, deadlineOf } from './assembly.ts'
import type { Channel } from './batchChannel.ts'
import { batchReply, type Failure } from './batchReply.ts'
import type { PendingBytes } from './pendingBytes.ts'
import { expectAny, noResponse, type Outcome } from './proposal.ts'
import type { Writer } from './writer.ts'

const maxAssemblies = 10_000
/** Limit of unfinished appends per call. */
const maxPendingBytesPerCall = 64 << 20
/** How long the chunks of one append may take, as in EventStoreDB; the client's deadline may be shorter. */
const assemblyTimeoutMs = 2_000

type Deps = { readonly writer: Writer; readonly maxAppendBytes: number; readonly held: PendingBytes }

/** @returns the handler of the client's messages */
export function createReceiver(channel: Channel, deps: Deps): (request: BatchAppendReq) => void {
  const { writer, maxAppendBytes, held } = deps
  const assemblies = createAssemblies({ held, maxAssemblies, maxHeldBytes: maxPendingBytesPerCall })
  channel.onClose(assemblies.clear)

  const reject = (request: BatchAppendReq, id: string | undefined, failure: Failure): void => {
    const assembly = id === undefined ? undefined : assemblies.get(id)
    if (id !== undefined) assemblies.remove(id)
    reply(channel, request, assembly, failure)
  }

  const begin = (request: BatchAppendReq, id: string): Assembly | undefined => {
    const options = request.getOptions()
    // A chunk of an append that is unknown or has its reply already is ignored, as in EventStoreDB.
    if (options === undefined) return undefined
    const timeoutMs = Math.min(deadlineOf(options) - Date.now(), assemblyTimeoutMs)
    if (options.hasStreamIdentifier() && timeoutMs <= 0) {
      reject(request, undefined, { kind: 'timeout' })
      return undefined
    }
    const assembly = beginAssembly(options)
    assemblies.add(id, assembly)
    if (!request.getIsFinal()) {
      assembly.timer = setTimeout(() => reject(request, id, { kind: 'timeout' }), timeoutMs)
    }
    return assembly
  }

  const submit = async (request: BatchAppendReq, assembly: Assembly): Promise<void> => {
    const { stream, expected, events, heldBytes, deadlineMs } = assembly
    const proposal = { kind: 'append', stream, expected, events } as const
    const outcome = await writer.submit({ proposal, bytes: heldBytes, deadlineMs, isCancelled: channel.closed })
    if (outcome.kind === 'no_response') return noResponse()
    reply(channel, request, assembly, outcome)
  }

  const receive = (request: BatchAppendReq): void => {
    const id = uuidOf(request.getCorrelationId())
    const assembly = assemblies.get(id) ?? begin(request, id)
    if (assembly === undefined) return
    const heldBefore = assembly.heldBytes
    addChunk(assembly, request)
    if (!assemblies.account(assembly, heldBefore)) {
      channel.fail(tooManyPendingBytes())
    } else if (assembly.countedBytes > maxAppendBytes) {
      reject(request, id, { kind: 'maximum_append_size_exceeded', maxAppendBytes })
    } else if (request.getIsFinal()) {
      if (assembly.stream === '') throw new BadRequestError('A stream name is required')
      assemblies.remove(id)
      channel.during(submit(request, assembly))
    }
  }

  return (request) => {
    try {
      receive(request)
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error
      // Without options there is no stream to name in a reply; EventStoreDB fails the call, too.
      if (!request.hasOptions()) channel.fail(unknown(error.message))
      else reject(request, idOf(request), { kind: 'bad_request', message: error.message })
    }
    if (writer.congested) channel.pauseUntil(writer.uncongested())
  }
}

function reply(
  channel: Channel,
  request: BatchAppendReq,
  assembly: Assembly | undefined,
  result: Exclude<Outcome, { kind: 'no_response' }> | Failure,
): void {
  const options = assembly?.options ?? request.getOptions()
  const context = { correlationId: request.getCorrelationId(), identifier: options?.getStreamIdentifier() }
  channel.reply(batchReply(context, assembly?.expected ?? expectAny, result))
}

function idOf(request: BatchAppendReq): string | undefined {
  try {
    return uuidOf(request.getCorrelationId())
  } catch {
    return undefined
  }
}
