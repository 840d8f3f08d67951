// A server that sends a subscription all it has, and that can be seen to be held back.
import { confirmationMessage, eventMessage } from './messages.ts'
import type { ReadCall } from './misbehavingServer.ts'

const eventBytes = 2_000

export type Flood = {
  /** What the server does with the subscription. */
  subscription(call: ReadCall): Promise<void>
  sent(): number
  /** Whether it could not send for so many looks in a row, this one among them. */
  isBackpressured(looks: number): boolean
}

/** So many events of one stream, as fast as they are taken. */
export function createFlood(stream: string, total: number): Flood {
  let sent = 0
  let isFull = false
  let last = -1
  let unchanged = 0
  return {
    async subscription(call) {
      call.write(confirmationMessage())
      while (sent < total && !call.cancelled) {
        isFull = !call.write(eventMessage({ stream, number: ++sent, bytes: eventBytes }))
        if (isFull) await new Promise((resolve) => call.once('drain', resolve))
        else if (sent % 100 === 0) await new Promise(setImmediate)
      }
    },
    sent: () => sent,
    isBackpressured(looks) {
      unchanged = isFull && sent === last ? unchanged + 1 : 0
      last = sent
      return unchanged === looks
    },
  }
}
