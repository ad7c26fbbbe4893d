export const ParseError = -32700
export const InvalidRequest = -32600
export const InvalidParams = -32602
export const MethodNotFound = -32601
export const InternalError = -32603
export const HeaderMismatch = -32020
export const MissingRequiredClientCapability = -32021
export const UnsupportedProtocolVersion = -32022
