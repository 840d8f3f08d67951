// A BatchAppend call and how it ends: it fails, is cancelled, or all appends have replies.
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { type CallError, unavailable } from '../protocol/callError.ts'
import type { Writer } from './writer.ts'

export type BatchAppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>

type Deps = {
  readonly writer: Writer
  /** Aborts when the server stops. Open calls then fail, because the client leaves appends of a normally ended call pending. */
  readonly stopping: AbortSignal
}

export type Channel = {
  /** Whether the call has failed or ended, or the client has disconnected. */
  closed(): boolean
  reply(message: BatchAppendResp): void
  fail(error: CallError): void
  /** Pauses reading from the client until `ready` resolves. */
  pauseUntil(ready: Promise<unknown>): void
  /** Keeps the call open until `work` settles, even if the client has ended its side. */
  during(work: Promise<void>): void
  onClose(listener: () => void): void
}

export function openChannel(call: BatchAppendCall, { writer, stopping }: Deps): Channel {
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
  const fail = (error: CallError) => {
    if (closed) return
    close()
    call.emit('error', error)
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
  sendTogether(call)
  const onStopping = () => fail(unavailable('The server is stopping'))
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
      // Backpressure: do not read from a client that does not read its replies.
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

/** Replies that may wait for the socket, beyond the buffer of the call. */
const maxUnsentReplies = 1_000

/**
 * grpc-js hands a message to HTTP/2 when the one before it has left, so that each reply takes a turn of the event loop and a
 * system call. A commit brings many replies at once; without the wait HTTP/2 sends them together.
 */
function sendTogether(call: BatchAppendCall): void {
  const inner: unknown = Reflect.get(call, 'call')
  if (!isSender(inner)) throw new Error('This version of @grpc/grpc-js sends messages in another way')
  let unsent = 0
  let resume: (() => void) | undefined
  call._write = (message, _encoding, callback) => {
    unsent += 1
    inner.sendMessage(message, () => {
      unsent -= 1
      const next = resume
      resume = undefined
      next?.()
    })
    if (unsent < maxUnsentReplies) callback()
    else resume = () => callback()
  }
}

type Sender = { readonly sendMessage: (message: unknown, whenSent: () => void) => void }

function isSender(value: unknown): value is Sender {
  return typeof value === 'object' && value !== null && 'sendMessage' in value
}

function drained(call: BatchAppendCall): Promise<void> {
  return new Promise((resolve) => call.once('drain', resolve))
}
