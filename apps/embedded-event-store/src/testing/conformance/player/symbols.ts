// Converts symbols of a recording to names and ids of this run, and back.
import { createHash } from 'node:crypto'

export type Symbols = {
  /** The prefix in every stream name of this scenario. */
  readonly prefix: string
  stream(symbol: string): string
  /** Reverses `stream` for all names in a text. */
  withoutNames(text: string): string
  /** Whether a name belongs to this scenario. */
  owns(stream: string): boolean
  eventId(symbol: string): string
  /** `?` for the id of an event that the server generated. */
  eventSymbol(id: string): string
}

/** @param prefix unique among all scenarios ever played on the server */
export function createSymbols(prefix: string): Symbols {
  const symbolById = new Map<string, string>()
  return {
    prefix,
    stream(symbol) {
      if (symbol === '') return ''
      return symbol.startsWith('$$') ? `$$${prefix}${symbol.slice(2)}` : `${prefix}${symbol}`
    },
    withoutNames: (text) => text.replaceAll(prefix, ''),
    owns: (stream) => stream.includes(prefix),
    eventId(symbol) {
      const hex = createHash('sha256').update(`${prefix}${symbol}`).digest('hex')
      const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
      symbolById.set(id, symbol)
      return id
    },
    eventSymbol: (id) => symbolById.get(id) ?? '?',
  }
}
