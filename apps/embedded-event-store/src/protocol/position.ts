// A place in the log as messages carry it: as two numbers, which are the same in this log.

type Placed = { setCommitPosition(value: string): unknown; setPreparePosition(value: string): unknown }

/** @returns the message, which says the position now */
export function placedAt<Message extends Placed>(message: Message, position: bigint): Message {
  message.setCommitPosition(String(position))
  message.setPreparePosition(String(position))
  return message
}
