// Streams/Read: all kinds of reads and subscriptions.
import type { Logger } from '@paylog/runtime/telemetry/log'
import { CallError, unavailable } from '../protocol/callError.ts'
import { subscribeAll } from '../subscriptions/subscribeAll.ts'
import { subscribeStream } from '../subscriptions/subscribeStream.ts'
import type { Tail } from '../subscriptions/tail.ts'
import type { Log } from './log.ts'
import { createOutlet, type Outlet, type ReadCall } from './outlet.ts'
import { readAll } from './readAll.ts'
import { readRequestOf } from './readRequest.ts'
import { readStream } from './readStream.ts'

type Deps = {
  readonly events: Log
  readonly tail: Tail
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

export function createRead(deps: Deps): (call: ReadCall) => void {
  return (call) => {
    const outlet = createOutlet(call, deps.stopping)
    serve(deps, call, outlet).then(
      () => {
        if (deps.stopping.aborted) call.emit('error', unavailable('The server is stopping'))
        else call.end()
      },
      (error: unknown) => {
        // An error after a disconnect or stop is not reported: the read's resources may have been closed under it.
        if (!outlet.signal.aborted) call.emit('error', readErrorOf(error, deps.log))
        else if (deps.stopping.aborted) call.emit('error', unavailable('The server is stopping'))
      },
    )
  }
}

async function serve({ events, tail }: Deps, call: ReadCall, outlet: Outlet): Promise<void> {
  const request = readRequestOf(call.request)
  switch (request.kind) {
    case 'read_stream':
      return readStream(events, outlet, request)
    case 'read_all':
      return readAll(events, outlet, request)
    case 'subscribe_stream':
      return subscribeStream(events, tail, outlet, request)
    case 'subscribe_all':
      return subscribeAll(events, tail, outlet, request)
    case 'nothing':
      return undefined
  }
}

function readErrorOf(error: unknown, log: Logger): CallError {
  if (error instanceof CallError) return error
  log.warn({ err: error }, 'a read failed')
  return unavailable('The log cannot be read now')
}
