// Arrays in Postgres's binary format, so that event bytes are not converted to text.

const oid = { bool: 16, bytea: 17, int8: 20, text: 25, uuid: 2950 }

/** One-dimensional array without nulls: dimensions, flags, element type, length, lower bound, then length-prefixed elements. */
function binaryArray(elementOid: number, elements: readonly Uint8Array[]): Buffer {
  const size = elements.reduce((sum, element) => sum + 4 + element.length, 20)
  const out = Buffer.allocUnsafe(size)
  out.writeInt32BE(1, 0)
  out.writeInt32BE(0, 4)
  out.writeInt32BE(elementOid, 8)
  out.writeInt32BE(elements.length, 12)
  out.writeInt32BE(1, 16)
  let at = 20
  for (const element of elements) {
    out.writeInt32BE(element.length, at)
    out.set(element, at + 4)
    at += 4 + element.length
  }
  return out
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  return binaryArray(oid.bytea, values)
}

export function textArray(values: readonly string[]): Buffer {
  return binaryArray(
    oid.text,
    values.map((value) => Buffer.from(value, 'utf8')),
  )
}

export function uuidArray(values: readonly string[]): Buffer {
  return binaryArray(
    oid.uuid,
    values.map((value) => Buffer.from(value.replaceAll('-', ''), 'hex')),
  )
}

export function bigintArray(values: readonly bigint[]): Buffer {
  return binaryArray(
    oid.int8,
    values.map((value) => {
      const element = Buffer.allocUnsafe(8)
      element.writeBigInt64BE(value)
      return element
    }),
  )
}

export function boolArray(values: readonly boolean[]): Buffer {
  return binaryArray(
    oid.bool,
    values.map((value) => Buffer.of(value ? 1 : 0)),
  )
}
