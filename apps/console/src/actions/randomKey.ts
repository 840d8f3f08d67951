/** A key for one request and its repetitions. Unlike `crypto.randomUUID` it also exists on pages without TLS. */
export function randomKey(): string {
  return `console-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
