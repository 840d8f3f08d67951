// Protobuf primitives for encoding events by hand.

/** Bytes of a non-negative integer as a varint. */
function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1
  return size
}

/** A buffer of known size, so that it never has to grow. */
export type ByteWriter = { readonly bytes: Buffer; at: number }

function writeVarint(out: ByteWriter, value: number): void {
  let rest = value
  while (rest >= 128) {
    out.bytes[out.at++] = (rest % 128) + 128
    rest = Math.floor(rest / 128)
  }
  out.bytes[out.at++] = rest
}

export function uint64Size(value: bigint): number {
  if (value <= 9007199254740991n) return varintSize(Number(value))
  let size = 0
  for (let rest = value; rest > 0n; rest >>= 7n) size += 1
  return size
}

function writeUint64(out: ByteWriter, value: bigint): void {
  if (value <= 9007199254740991n) {
    writeVarint(out, Number(value))
    return
  }
  let rest = value
  while (rest >= 128n) {
    out.bytes[out.at++] = Number(rest & 127n) + 128
    rest >>= 7n
  }
  out.bytes[out.at++] = Number(rest)
}

/** Size of a length-delimited field (message, string or bytes) with a field number below 16. */
export function lengthDelimitedSize(length: number): number {
  return 1 + varintSize(length) + length
}

export function writeLengthDelimitedHeader(out: ByteWriter, field: number, length: number): void {
  out.bytes[out.at++] = (field << 3) | 2
  writeVarint(out, length)
}

export function writeText(out: ByteWriter, field: number, text: string, length: number): void {
  writeLengthDelimitedHeader(out, field, length)
  out.at += out.bytes.write(text, out.at, length, 'utf8')
}

export function writeBytes(out: ByteWriter, field: number, bytes: Uint8Array): void {
  writeLengthDelimitedHeader(out, field, bytes.length)
  out.bytes.set(bytes, out.at)
  out.at += bytes.length
}

export function writeUint64Field(out: ByteWriter, field: number, value: bigint): void {
  out.bytes[out.at++] = field << 3
  writeUint64(out, value)
}
