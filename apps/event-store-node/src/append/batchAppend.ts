// Streams/BatchAppend. Many appends share one stream of messages; each correlation id is answered exactly once.
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import { uuidOf } from '../protocol/identifiers.ts'
import { Refusal, unavailable } from '../protocol/refusal.ts'
import { type Assembly, addChunk, beginAssembly } from './assembly.ts'
import { batchReply, type Failure } from './batchReply.ts'
import type { Outcome } from './proposal.ts'
import type { Writer } from './writer.ts'

export type BatchAppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>

type Deps = {
  readonly writer: Writer
  readonly maxAppendBytes: number
  /** Aborts when the node stops: open streams then fail, because ending one in good order leaves its appends hanging. */
  readonly stopping: AbortSignal
}

const maxAssemblies = 10_000
/** How long the chunks of one append may take, as in the real server; the client's own deadline may be shorter. */
const assemblyTimeoutMs = 2_000

export function createBatchAppend(deps: Deps): (call: BatchAppendCall) => void {
  return (call) => {
    const channel = openChannel(call, deps)
    const receive = createReceiver(call, channel, deps)
    call.on('data', (request: BatchAppendReq) => {
      if (!channel.closed()) receive(request)
    })
  }
}

type Channel = {
  closed(): boolean
  reply(message: BatchAppendResp): void
  fail(refusal: Refusal): void
  /** Stops reading from the client until then. */
  pauseUntil(ready: Promise<unknown>): void
  /** Keeps the call open until `work` is settled, also when the client has said its last. */
  during(work: Promise<void>): void
  onClose(listener: () => void): void
}

/** The call with its ways to end: it fails, it is cancelled, or everything asked for was answered. */
function openChannel(call: BatchAppendCall, { writer, stopping }: Deps): Channel {
  const closeListeners: (() => void)[] = []
  let inFlight = 0
  let clientIsDone = false
  let closed = false
  let pauses = 0
  let draining = false

  const close = () => {
    if (closed) return
    closed = true
    for (const listener of closeListeners) listener()
  }
  const fail = (refusal: Refusal) => {
    if (closed) return
    close()
    call.emit('error', refusal)
  }
  const endWhenDone = () => {
    if (!clientIsDone || inFlight > 0 || closed) return
    close()
    call.end()
  }
  const pauseUntil = (ready: Promise<unknown>) => {
    pauses += 1
    call.pause()
    ready.then(
      () => {
        pauses -= 1
        if (pauses === 0 && !closed) call.resume()
      },
      () => fail(unavailable('The log cannot be written now')),
    )
  }
  const onStopping = () => fail(unavailable('The node is stopping'))
  stopping.addEventListener('abort', onStopping)
  closeListeners.push(
    () => stopping.removeEventListener('abort', onStopping),
    writer.onOutage(() => fail(unavailable('The log cannot be written now'))),
  )
  call.on('cancelled', close)
  call.on('end', () => {
    clientIsDone = true
    endWhenDone()
  })
  if (stopping.aborted) queueMicrotask(onStopping)

  return {
    closed: () => closed,
    reply(message) {
      if (closed || call.write(message) || draining) return
      // A client that does not read its answers is not read from either.
      draining = true
      pauseUntil(
        drained(call).then(() => {
          draining = false
        }),
      )
    },
    fail,
    pauseUntil,
    during(work) {
      inFlight += 1
      work
        .catch(() => fail(unavailable('The log cannot be written now')))
        .finally(() => {
          inFlight -= 1
          endWhenDone()
        })
        .catch(fail)
    },
    onClose: (listener) => closeListeners.push(listener),
  }
}

function drained(call: BatchAppendCall): Promise<void> {
  return new Promise((resolve) => call.once('drain', resolve))
}

function createReceiver(call: BatchAppendCall, channel: Channel, { writer, maxAppendBytes }: Deps) {
  const assemblies = new Map<string, Assembly>()
  channel.onClose(() => {
    for (const assembly of assemblies.values()) clearTimeout(assembly.timer)
    assemblies.clear()
  })

  const answer = (request: BatchAppendReq, assembly: Assembly, result: Outcome | Failure) => {
    if (assembly.answered) return
    assembly.answered = true
    const correlationId = request.getCorrelationId()
    if (correlationId) channel.reply(batchReply(correlationId, assembly.options, assembly.expected, result))
  }

  const begin = (request: BatchAppendReq, id: string): Assembly | undefined => {
    const options = request.getOptions()
    // A chunk of an append that is unknown here: there is nothing to answer, as in the real server.
    if (options === undefined) return undefined
    const { assembly, failure } = beginAssembly(options)
    assemblies.set(id, assembly)
    if (failure !== undefined) answer(request, assembly, failure)
    else if (!request.getIsFinal()) {
      const patienceMs = Math.min(assembly.deadlineMs - Date.now(), assemblyTimeoutMs)
      assembly.timer = setTimeout(() => answer(request, assembly, { kind: 'timeout' }), patienceMs)
    }
    return assembly
  }

  const submit = async (request: BatchAppendReq, assembly: Assembly): Promise<void> => {
    const { stream, expected, events, bytes, deadlineMs } = assembly
    const proposal = { kind: 'append', stream, expected, events } as const
    const isCancelled = () => call.cancelled
    answer(request, assembly, await writer.submit({ proposal, bytes, deadlineMs, isCancelled }))
  }

  return (request: BatchAppendReq): void => {
    const id = correlationOf(request)
    if (id === undefined) {
      channel.fail(new Refusal(status.INVALID_ARGUMENT, 'A correlation id is required'))
      return
    }
    const assembly = assemblies.get(id) ?? begin(request, id)
    if (assembly === undefined) return
    const failure = assembly.answered ? undefined : addChunk(assembly, request, maxAppendBytes)
    if (failure !== undefined) answer(request, assembly, failure)
    if (request.getIsFinal()) {
      clearTimeout(assembly.timer)
      assemblies.delete(id)
      if (!assembly.answered) channel.during(submit(request, assembly))
    } else if (assemblies.size > maxAssemblies) {
      channel.fail(new Refusal(status.RESOURCE_EXHAUSTED, 'Too many unfinished appends on one stream'))
    }
    if (writer.congested) channel.pauseUntil(writer.uncongested())
  }
}

function correlationOf(request: BatchAppendReq): string | undefined {
  try {
    return uuidOf(request.getCorrelationId())
  } catch {
    return undefined
  }
}
