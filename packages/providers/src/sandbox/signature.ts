// The signature of the sandbox's notifications.
import { signWithTime } from '../timedSignature.ts'

export const signatureHeader = 'sandbox-signature'

/** The value of the header for a body, signed at a Unix time in seconds. */
export const signSandboxEvent = signWithTime
