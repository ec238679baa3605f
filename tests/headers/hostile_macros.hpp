// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Names that system headers and other libraries are known to take as macros. Defined after the standard headers, which would not
// survive them, and before chorus, which must.
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#undef major
#define major hostile major
#undef minor
#define minor hostile minor
#undef linux
#define linux hostile linux
#define I hostile I
#define OK hostile OK
#define ERROR hostile ERROR
#define CHECK(x) hostile CHECK
#define small hostile small
#define interface hostile interface
#define Status hostile Status
#define None hostile None
#define Bool hostile Bool
#define Success hostile Success
#define TRUE hostile TRUE
#define FALSE hostile FALSE
#define near hostile near
#define far hostile far
#define IN hostile IN
#define OUT hostile OUT
